// A sum over a binary tree. Planted: a task for each node, most of them some ten nanoseconds. Cured: of the five upper levels.
#include <cstdio>
#include <vector>

#ifdef CURED
constexpr int kTaskDepth = 5;
#else
constexpr int kTaskDepth = 100;
#endif

constexpr int kDepth = 18, kRounds = 16;

struct Node {
    double value;
    int left, right;
};

static std::vector<Node> g_nodes;

static int grow(int depth) {
    const int at = static_cast<int>(g_nodes.size());
    g_nodes.push_back({depth * 1.5 + at % 7, -1, -1});
    if (depth > 0) {
        const int left = grow(depth - 1), right = grow(depth - 1);
        g_nodes[at].left = left;
        g_nodes[at].right = right;
    }
    return at;
}

static double damped(double value) {
    for (int step = 0; step < 20; step++)
        value = value * 0.999 + 0.01;
    return value;
}

static double sum_of(int at, int depth) {
    const Node& node = g_nodes[at];
    if (node.left < 0)
        return damped(node.value);
    double left, right;
    if (depth < kTaskDepth) {
#pragma omp task shared(left) // planted: omp-granularity
        left = sum_of(node.left, depth + 1);
        right = sum_of(node.right, depth + 1);
#pragma omp taskwait
    } else {
        left = sum_of(node.left, depth + 1);
        right = sum_of(node.right, depth + 1);
    }
    return left + right + damped(node.value);
}

int main() {
    grow(kDepth);
    double all = 0;
    for (int round = 0; round < kRounds; round++) {
#pragma omp parallel
#pragma omp single
        all += sum_of(0, 0);
    }
    std::printf("%.4f\n", all);
    return 0;
}
