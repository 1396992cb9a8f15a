// A pool of workers takes tasks of different lengths from a queue. Planted: the pool's threads inherit a mask of one CPU
// from the thread that sets it up. Cured: each gets a CPU of its own.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <queue>
#include <sched.h>
#include <thread>
#include <vector>

constexpr int kTasks = 1600;

class Pool {
  public:
    explicit Pool(int workers) {
        for (int i = 0; i < workers; i++)
            workers_.emplace_back([this, i] { serve(i); });
    }
    void put(int task) {
        const std::lock_guard lock(mutex_);
        tasks_.push(task);
        wake_.notify_one();
    }
    double finish() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        wake_.notify_all();
        for (std::thread& worker : workers_)
            worker.join();
        return sum_;
    }

  private:
    static double compute(int task) {
        double value = task;
        for (int i = 0; i < 200'000 + 60'000 * (task % 7); i++)
            value = value * 0.999999 + 1.0 / (i + 1);
        return value;
    }
    void serve([[maybe_unused]] int number) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
#ifdef CURED
        CPU_SET(number % 2, &cpus);
#else
        CPU_SET(0, &cpus);
#endif
        sched_setaffinity(0, sizeof(cpus), &cpus);
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
            if (tasks_.empty())
                return;
            const int task = tasks_.front();
            tasks_.pop();
            lock.unlock();
            results_[static_cast<size_t>(task)] = compute(task);
            lock.lock();
            sum_ += results_[static_cast<size_t>(task)];
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::queue<int> tasks_;
    std::vector<std::thread> workers_;
    std::vector<double> results_ = std::vector<double>(kTasks);
    double sum_ = 0;
    bool closed_ = false;
};

int main() {
    Pool pool(2);
    for (int task = 0; task < kTasks; task++)
        pool.put(task);
    std::printf("%g\n", pool.finish());
}
