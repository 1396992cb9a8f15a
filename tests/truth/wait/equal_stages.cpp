// Innocent of slow stages: two threads of equal speed with a bounded queue between them. Each waits for the other now and then.
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <thread>

namespace {

constexpr int kItems = 1000, kSteps = 160'000;
constexpr size_t kPlaces = 16;

std::mutex g_mutex;
std::condition_variable g_room, g_ready;
std::queue<double> g_items;

[[gnu::noinline]] double make(int number) {
    double value = number;
    for (int step = 0; step < kSteps; ++step)
        value = value * 0.999 + std::sqrt(value + step);
    return value;
}

[[gnu::noinline]] double use(double value) {
    for (int step = 0; step < kSteps; ++step)
        value = value * 0.998 + std::sqrt(value + step);
    return value;
}

void make_all() {
    for (int number = 0; number < kItems; ++number) {
        const double value = make(number);
        std::unique_lock lock(g_mutex);
        g_room.wait(lock, [] { return g_items.size() < kPlaces; });
        g_items.push(value);
        g_ready.notify_one();
    }
}

} // namespace

int main() {
    std::thread maker(make_all);
    double sum = 0;
    for (int taken = 0; taken < kItems; ++taken) {
        std::unique_lock lock(g_mutex);
        g_ready.wait(lock, [] { return !g_items.empty(); });
        const double value = g_items.front();
        g_items.pop();
        g_room.notify_one();
        lock.unlock();
        sum += use(value);
    }
    maker.join();
    std::printf("%.3f\n", sum);
}
