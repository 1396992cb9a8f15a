// One thread reads tables, which takes it 30 ms each, and the first thread evaluates them. Planted: it asks for a table when it
// needs one, and yields until it is there, while nobody evaluates. Cured: the next table is read meanwhile.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

static constexpr int kTables = 45, kNumbers = 6'000, kRounds = 2000;

static std::vector<double> g_tables[2];
static std::atomic<int> g_asked{0}, g_read{0};

[[gnu::noinline]] static void work_on(std::vector<double>& table, int seed) {
    for (int round = 0; round < kRounds; round++)
        for (double& number : table)
            number = std::sqrt(number + seed + round);
}

static void read_tables() {
    for (int table = 0; table < kTables; table++) {
        g_asked.wait(table, std::memory_order_acquire); // sleeps
        g_tables[table % 2].assign(kNumbers, table);
        work_on(g_tables[table % 2], 1);
        g_read.store(table + 1, std::memory_order_release);
    }
}

static void ask_for(int table) {
    if (table >= kTables)
        return;
    g_asked.store(table + 1, std::memory_order_release);
    g_asked.notify_one();
}

int main() {
    std::thread reader(read_tables);
    double sum = 0;
#ifdef CURED
    ask_for(0);
#endif
    for (int table = 0; table < kTables; table++) {
#ifndef CURED
        ask_for(table);
#endif
        while (g_read.load(std::memory_order_acquire) <= table) // planted: spin-wait
            std::this_thread::yield();                          // planted: spin-wait
#ifdef CURED
        ask_for(table + 1);
#endif
        work_on(g_tables[table % 2], 2);
        sum += std::floor(g_tables[table % 2][table]);
    }
    reader.join();
    std::printf("%.0f\n", sum);
}
