// Two threads that are blocked many times for a moment, and print how often and for how long by their own clocks.
//
// usage: short_waits COUNT MICROSECONDS
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

volatile double sink;

void wait_often(int count, std::chrono::microseconds time, double& waited_s) {
    double value = 1;
    for (int i = 0; i < count; ++i) {
        for (int step = 0; step < 20000; ++step)
            value = std::sqrt(value + step);
        const auto begin = Clock::now();
        std::this_thread::sleep_for(time);
        waited_s += std::chrono::duration<double>(Clock::now() - begin).count();
    }
    sink = value;
}

} // namespace

int main(int, char** arguments) {
    const int count = std::atoi(arguments[1]);
    const std::chrono::microseconds time(std::atoi(arguments[2]));
    double first_s = 0, second_s = 0;
    std::thread other(wait_often, count, time, std::ref(second_s));
    wait_often(count, time, first_s);
    other.join();
    std::printf("%d %.6f %.6f\n", count, first_s, second_s);
}
