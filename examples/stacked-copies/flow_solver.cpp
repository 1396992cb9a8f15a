// One serial copy of a flow solver: potential flow in a channel around a block, relaxed by Gauss-Seidel sweeps of
// alternating colour. Memory: 4.5 MB a copy.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kWidth = 1024, kHeight = 512;

struct Channel {
    std::vector<double> potential = std::vector<double>(static_cast<size_t>(kWidth) * kHeight);
    std::vector<unsigned char> solid = std::vector<unsigned char>(potential.size());

    static size_t at(int x, int y) { return static_cast<size_t>(y) * kWidth + static_cast<size_t>(x); }
};

Channel make_channel() {
    Channel channel;
    for (int y = 0; y < kHeight; ++y)
        for (int x = 0; x < kWidth; ++x) {
            channel.potential[Channel::at(x, y)] = static_cast<double>(x) / (kWidth - 1);
            channel.solid[Channel::at(x, y)] = std::hypot(x - kWidth / 3, y - kHeight / 2) < kHeight / 8;
        }
    return channel;
}

// Relaxes the cells of one colour; returns the largest change.
double sweep(Channel& channel, int colour) {
    double largest = 0;
    for (int y = 1; y < kHeight - 1; ++y)
        for (int x = 1 + (y + colour) % 2; x < kWidth - 1; x += 2) {
            const size_t here = Channel::at(x, y);
            if (channel.solid[here])
                continue;
            double sum = 0;
            int open = 0;
            for (size_t neighbour : {here - 1, here + 1, here - kWidth, here + kWidth})
                if (!channel.solid[neighbour]) {
                    sum += channel.potential[neighbour];
                    ++open;
                }
            const double relaxed = sum / open;
            largest = std::max(largest, std::fabs(relaxed - channel.potential[here]));
            channel.potential[here] += 1.8 * (relaxed - channel.potential[here]);
        }
    return largest;
}

} // namespace

int main(int argc, char** argv) {
    const int sweeps = argc > 1 ? std::atoi(argv[1]) : 400;
    Channel channel = make_channel();
    double change = 0;
    for (int i = 0; i < sweeps; ++i)
        change = std::max(sweep(channel, 0), sweep(channel, 1));
    std::printf("largest change in the last of %d sweeps: %.3e\n", sweeps, change);
}
