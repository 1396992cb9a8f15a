// A thread answers questions from a table, and another one rebuilds the table from time to time. Planted: it keeps the table
// locked for writing while it computes the new one. Cured: it computes that first, and locks the table to exchange it.
#include <cmath>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kRebuilds = 60, kEntries = 64, kSteps = 60'000;
constexpr int kQuestions = 60 * 64;

std::shared_mutex g_lock;
std::vector<double> g_table(kEntries, 1.0);

__attribute__((noinline)) double work(double value, int steps) {
    for (int step = 0; step < steps; ++step)
        value = value * 0.999 + std::sqrt(value + step); // planted: lock-wait
    return value;
}

std::vector<double> new_table() {
    std::vector<double> table(kEntries);
    for (int entry = 0; entry < kEntries; ++entry)
        table[entry] = std::floor(work(entry, kSteps));
    return table;
}

void rebuild() {
    for (int i = 0; i < kRebuilds; ++i) {
#ifdef CURED
        std::vector<double> table = new_table();
        const std::unique_lock lock(g_lock);
        g_table.swap(table);
#else
        const std::unique_lock lock(g_lock);
        g_table = new_table();
#endif
    }
}

} // namespace

int main() {
    std::thread rebuilder(rebuild);
    double sum = 0;
    for (int question = 0; question < kQuestions; ++question) {
        double entry;
        {
            const std::shared_lock lock(g_lock);
            entry = g_table[static_cast<size_t>(question) % kEntries];
        }
        sum += std::floor(work(entry > 0 ? 1 : 2, kSteps));
    }
    rebuilder.join();
    std::printf("%.0f\n", sum);
}
