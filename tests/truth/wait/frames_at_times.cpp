// Innocent: frames at fixed times, each computed by one thread, while another one now and then writes how many there are. The
// rest of each period is slept until an absolute time.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <thread>
#include <vector>

using std::chrono::milliseconds;

static std::atomic<bool> g_over{false};
static std::atomic<long> g_frames{0};

static void write_progress() {
    std::FILE* file = std::fopen("/dev/null", "w");
    while (!g_over) {
        std::this_thread::sleep_for(milliseconds(100));
        std::fprintf(file, "%ld\n", g_frames.load());
        std::fflush(file);
    }
    std::fclose(file);
}

[[gnu::noinline]] static double frame(std::vector<double>& field) {
    double sum = 0;
    for (size_t cell = 1; cell + 1 < field.size(); cell++) {
        field[cell] += 0.1 * (field[cell - 1] - 2 * field[cell] + field[cell + 1]);
        sum += std::fabs(field[cell]);
    }
    return sum;
}

int main() {
    std::thread progress(write_progress);
    std::vector<double> field(20'000);
    for (size_t cell = 0; cell < field.size(); cell++)
        field[cell] = static_cast<double>(cell % 100);
    double sum = 0;
    timespec next{};
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int number = 0; number < 150; number++) {
        for (int step = 0; step < 60; step++)
            sum += frame(field);
        g_frames++;
        next.tv_nsec += 20'000'000;
        if (next.tv_nsec >= 1'000'000'000) {
            next.tv_sec++;
            next.tv_nsec -= 1'000'000'000;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    }
    g_over = true;
    progress.join();
    std::printf("%.3f\n", sum);
}
