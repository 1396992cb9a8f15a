// One thread fills batches of numbers, another adds them up. They exchange two batches under a lock: what they share is
// what has to go from one to the other, once.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

constexpr size_t kNumbers = 200'000;
constexpr int kBatches = 250;

int main() {
    std::array<std::vector<double>, 2> batches;
    std::array<bool, 2> full{};
    std::mutex mutex;
    std::condition_variable changed;
    double sum = 0;
    std::thread reader([&] {
        for (int batch = 0; batch < kBatches; batch++) {
            const size_t at = static_cast<size_t>(batch % 2);
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return full[at]; });
            lock.unlock();
            for (const double value : batches[at])
                for (int i = 0; i < 8; i++)
                    sum = sum * 0.999 + value;
            lock.lock();
            full[at] = false;
            changed.notify_one();
        }
    });
    for (int batch = 0; batch < kBatches; batch++) {
        const size_t at = static_cast<size_t>(batch % 2);
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !full[at]; });
        lock.unlock();
        batches[at].resize(kNumbers);
        double value = batch;
        for (double& number : batches[at])
            for (int i = 0; i < 8; i++)
                number = value = value * 0.997 + i;
        lock.lock();
        full[at] = true;
        changed.notify_one();
    }
    reader.join();
    std::printf("%g\n", sum);
}
