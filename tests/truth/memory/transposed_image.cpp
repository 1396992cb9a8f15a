// Turns an image by 90 degrees, again and again. Planted: its rows are 4096 bytes, so that the pixels of a column share a few
// sets of the cache. Cured: the rows are one cache line longer.
#include <cstdint>
#include <cstdio>
#include <vector>

#ifdef CURED
constexpr std::size_t kPitch = 1024 + 16;
#else
constexpr std::size_t kPitch = 1024;
#endif
constexpr std::size_t kWidth = 1024, kHeight = 256;

int main() {
    std::vector<float> image(kPitch * kHeight), turned(kWidth * kHeight);
    for (std::size_t i = 0; i < image.size(); ++i)
        image[i] = static_cast<float>(i % 251);
    float sum = 0;
    for (int round = 0; round < 18000; ++round) {
        for (std::size_t x = 0; x < kWidth; ++x) {
            float column = 0;
            for (std::size_t y = 0; y < kHeight; ++y)
                column += image[y * kPitch + x]; // planted: power-of-two-stride
            turned[x] = column;
        }
        sum += turned[static_cast<std::size_t>(round) % kWidth];
    }
    std::printf("%g\n", static_cast<double>(sum));
}
