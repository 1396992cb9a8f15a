// Sessions come and go; each tells its listeners what happened. Planted: a session that ends stays in the list of listeners, which
// keeps it alive. Cured: it leaves the list.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

struct Session {
    explicit Session(uint64_t number) : history(400, number) {} // planted: heap-leak
    uint64_t work() {
        uint64_t sum = 0;
        for (int round = 0; round < 24; round++)
            for (uint64_t& entry : history)
                sum += entry = entry * 6364136223846793005u + 1442695040888963407u;
        return sum;
    }
    std::vector<uint64_t> history;
};

int main() {
    std::vector<std::shared_ptr<Session>> listeners;
    uint64_t sum = 0;
    for (uint64_t number = 0; number < 250'000; number++) {
        auto session = std::make_shared<Session>(number); // planted: heap-leak
        listeners.push_back(session);
        sum += session->work();
#ifdef CURED
        listeners.pop_back();
#endif
    }
    std::printf("%llu %zu\n", static_cast<unsigned long long>(sum), listeners.size() % 2);
}
