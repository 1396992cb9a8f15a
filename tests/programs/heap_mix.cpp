// heap_mix ROUNDS ARITHMETIC: each round builds a list of small objects, drops it and computes for a while. The more
// ARITHMETIC, the smaller the allocator's part. HEAP_MIX_POOL in the environment keeps the objects instead: the cure.
#include "arithmetic.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Node {
    Node* next;
    uint64_t payload[5];
};

constexpr int kNodes = 1000;
volatile uint64_t g_sink;

Node* build_list() {
    Node* head = nullptr;
    for (int i = 0; i < kNodes; i++)
        head = new Node{head, {uint64_t(i)}}; // line of the allocations
    return head;
}

void drop_list(Node* head) {
    while (head) {
        Node* next = head->next;
        delete head;
        head = next;
    }
}

void pooled_round(std::vector<Node>& pool) {
    Node* head = nullptr;
    for (int i = 0; i < kNodes; i++) {
        pool[size_t(i)] = {head, {uint64_t(i)}};
        head = &pool[size_t(i)];
    }
    g_sink = head->payload[0];
}

void compute(uint64_t rounds) { g_sink = random_after(rounds); }

} // namespace

int main(int argc, char** argv) {
    if (argc < 3)
        return std::fprintf(stderr, "usage: heap_mix ROUNDS ARITHMETIC\n"), 2;
    const long rounds = std::atol(argv[1]);
    const uint64_t arithmetic = std::strtoull(argv[2], nullptr, 10);
    const bool pooled = std::getenv("HEAP_MIX_POOL") != nullptr;
    std::vector<Node> pool(pooled ? kNodes : 0);
    for (long round = 0; round < rounds; round++) {
        if (pooled) {
            pooled_round(pool);
        } else {
            Node* head = build_list();
            g_sink = head->payload[0];
            drop_list(head);
        }
        compute(arithmetic);
    }
    return 0;
}
