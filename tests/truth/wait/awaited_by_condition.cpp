// Renders tiles by a pool of two threads; the first thread waits for the last tile with a condition variable. The palette's mutex
// is held while a tile is rendered; the cured twin renders first and holds it to enter the colour alone.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kTiles = 2000, kPixels = 90000;

std::mutex palette_mutex, done_mutex;
std::condition_variable all_done;
std::map<uint32_t, int> palette;
int next_tile = 0, tiles_done = 0;

uint32_t render(int tile) {
    uint32_t colour = static_cast<uint32_t>(tile) * 2654435761u;
    for (int pixel = 0; pixel < kPixels; ++pixel)
        for (int round = 0; round < 8; ++round)
            colour = (colour ^ (colour >> 13)) * 2246822519u + static_cast<uint32_t>(pixel); // planted: lock-wait
    return colour >> 24;
}

void enter(int tile) {
#ifdef CURED
    const uint32_t colour = render(tile);
    const std::lock_guard<std::mutex> hold(palette_mutex);
    ++palette[colour];
#else
    const std::lock_guard<std::mutex> hold(palette_mutex);
    ++palette[render(tile)];
#endif
}

int take_tile() {
    const std::lock_guard<std::mutex> hold(done_mutex);
    return next_tile < kTiles ? next_tile++ : -1;
}

void work() {
    for (int tile = take_tile(); tile >= 0; tile = take_tile()) {
        uint32_t dither = 1;
        for (int step = 0; step < kPixels * 2; ++step)
            dither = dither * 1664525u + static_cast<uint32_t>(tile);
        enter(tile + static_cast<int>(dither & 1));
        const std::lock_guard<std::mutex> hold(done_mutex);
        if (++tiles_done == kTiles)
            all_done.notify_one();
    }
}

} // namespace

int main() {
    std::vector<std::thread> pool;
    for (int thread = 0; thread < 2; ++thread)
        pool.emplace_back(work);
    {
        std::unique_lock<std::mutex> hold(done_mutex);
        all_done.wait(hold, [] { return tiles_done == kTiles; });
    }
    for (std::thread& thread : pool)
        thread.join();
    std::printf("%zu colours\n", palette.size());
}
