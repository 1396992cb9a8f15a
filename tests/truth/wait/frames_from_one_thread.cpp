// One thread decodes frames and hands them over a bounded queue to two that draw them, which is less work: they wait for frames.
// Cured: as many threads decode as keep up with them and have a CPU.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kFrames = 1000, kDrawers = 2, kSteps = 60'000;
constexpr size_t kPlaces = 8;

struct Frame {
    int number;
    double value;
};

class Queue {
  public:
    void put(Frame frame) {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [this] { return frames_.size() < kPlaces; });
        frames_.push_back(frame);
        ready_.notify_one();
    }

    bool take(Frame& frame) {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return !frames_.empty() || closed_; });
        if (frames_.empty())
            return false;
        frame = frames_.front();
        frames_.pop_front();
        room_.notify_one();
        return true;
    }

    void close() {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        ready_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable room_, ready_;
    std::deque<Frame> frames_;
    bool closed_ = false;
};

Queue g_queue;
std::atomic<int> g_next{0};
std::vector<double> g_drawn(kFrames);

[[gnu::noinline]] double decode(int number) {
    double value = number;
    for (int step = 0; step < 5 * kSteps; ++step)
        value = value * 0.999 + std::sqrt(value + step); // planted: slow-stage
    return value;
}

[[gnu::noinline]] double draw(double value) {
    for (int step = 0; step < kSteps; ++step)
        value = value * 0.998 + std::sqrt(value + step);
    return value;
}

void decode_all() {
    for (int number; (number = g_next++) < kFrames;)
        g_queue.put({number, decode(number)});
}

void draw_all() {
    for (Frame frame; g_queue.take(frame);)
        g_drawn[static_cast<size_t>(frame.number)] = draw(frame.value);
}

} // namespace

int main() {
#ifdef CURED
    const int count = std::clamp(static_cast<int>(std::thread::hardware_concurrency()) - kDrawers, 2, 10);
#else
    const int count = 1;
#endif
    std::vector<std::thread> decoders, drawers;
    for (int thread = 0; thread < count; ++thread)
        decoders.emplace_back(decode_all);
    for (int thread = 0; thread < kDrawers; ++thread)
        drawers.emplace_back(draw_all);
    for (std::thread& thread : decoders)
        thread.join();
    g_queue.close();
    for (std::thread& thread : drawers)
        thread.join();
    double sum = 0;
    for (const double value : g_drawn)
        sum += value;
    std::printf("%.3f\n", sum);
}
