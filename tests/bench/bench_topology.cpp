// Seconds and memory that a job of 16,384 ranks takes on a torus of 32 x 32 x 16: 10 million pairs of ranks, neighbours and random ones in
// random order, and a halo exchange. Wanted: distances and the load of links in 10 s and 1 GiB, an order in 60 s.
#include "network/order/rank_order.h"
#include "network/planted_traffic.h"
#include "support/xorshift.h"

#include <chrono>
#include <cstdio>
#include <numeric>
#include <sys/resource.h>

namespace plumb::network {

namespace {

constexpr uint32_t kRanks = 32 * 32 * 16, kNeighbours = 300, kRandom = 310;

class Step {
  public:
    explicit Step(const char* name) : name_(name), begin_(std::chrono::steady_clock::now()) {}
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        std::printf("%-34s %6.1f s, at most %ld MiB so far\n", name_, seconds, usage.ru_maxrss / 1024);
        std::fflush(stdout);
    }

  private:
    const char* name_;
    std::chrono::steady_clock::time_point begin_;
};

std::vector<PairTraffic> many_pairs() {
    std::vector<PairTraffic> pairs;
    Xorshift random;
    const std::vector<uint32_t> rank = planted::shuffled(kRanks, 5);
    for (uint32_t i = 0; i < kRanks; ++i)
        for (uint32_t k = 0; k < kNeighbours + kRandom; ++k) {
            const uint32_t other = k < kNeighbours ? (i + 1 + k) % kRanks : static_cast<uint32_t>(random.next() % kRanks);
            pairs.push_back({rank[i], rank[other], 1, k < kNeighbours ? 1000u : 100u});
        }
    return pairs;
}

void print_order(const Network& network, const Traffic& traffic, const std::vector<NodeIndex>& nodes) {
    JobShape shape;
    {
        const Step step("  shape");
        shape = job_shape(traffic);
    }
    RankOrder order;
    {
        const Step step("  order");
        order = better_order(network, traffic, nodes, shape, 60);
    }
    std::printf("  links that a byte passes: %.3f, in the better order %.3f%s%s\n", order.before.mean_hops_of_bytes(),
                order.after.mean_hops_of_bytes(), order.without.empty() ? "" : "; ", order.without.c_str());
}

} // namespace

} // namespace plumb::network

int main() {
    using namespace plumb::network;
    const auto network = planted::torus_of({32, 32, 16});
    std::vector<NodeIndex> nodes(kRanks);
    std::iota(nodes.begin(), nodes.end(), 0u);
    std::puts("10 million pairs");
    Traffic traffic;
    {
        const Step step("  pairs, sorted");
        traffic = Traffic::of(kRanks, many_pairs());
    }
    std::printf("  %zu pairs\n", traffic.pairs.size());
    HopBytes load;
    {
        const Step step("  distances and load of links");
        load = hop_bytes(*network, traffic, nodes, true);
    }
    {
        const Step step("  busiest links");
        heaviest_links(*network, traffic, nodes, load.link_bytes, 8, 3);
    }
    print_order(*network, traffic, nodes);
    std::puts("halo of 128 x 128, ranks in random order");
    print_order(*network, planted::halo({128, 128}, true, 9).traffic, nodes);
}
