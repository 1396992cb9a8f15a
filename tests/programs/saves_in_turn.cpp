// Threads that compute without a lock, and hold one lock for a moment in which they sleep and do next to nothing else.
//
// usage: saves_in_turn THREADS ROUNDS
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::mutex journal_lock;
volatile double sink;

__attribute__((noinline)) double compute_outside(int steps) {
    double value = 1;
    for (int step = 0; step < steps; ++step)
        value = std::sqrt(value + step);
    return value;
}

__attribute__((noinline)) void save_inside(double value) {
    const std::lock_guard<std::mutex> lock(journal_lock);
    std::this_thread::sleep_for(std::chrono::microseconds(1500));
    sink = value;
}

} // namespace

int main(int, char** arguments) {
    std::vector<std::thread> threads;
    for (int number = 0; number < std::atoi(arguments[1]); ++number)
        threads.emplace_back([rounds = std::atoi(arguments[2]), steps = 200'000 * (number + 1)] {
            for (int round = 0; round < rounds; ++round)
                save_inside(compute_outside(steps));
        });
    for (std::thread& thread : threads)
        thread.join();
}
