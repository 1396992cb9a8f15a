// A control loop wakes every two milliseconds, computes for a moment and sleeps: it comes to run wherever there is room.
#include <chrono>
#include <cstdio>
#include <thread>

int main() {
    double value = 1;
    std::thread background([] {
        volatile double sum = 0;
        for (long i = 0; i < 500'000'000; i++)
            sum = sum + 1e-9;
    });
    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 100'000; i++)
            value = value * 0.99999 + 0.1;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    background.join();
    std::printf("%g\n", value);
}
