#include "noise/loss_sample.h"

#include "support/xorshift.h"

#include <numeric>
#include <utility>

namespace plumb::noise {

std::vector<size_t> choose_nodes(const LossStreams& streams, LengthBand band, size_t enough) {
    const auto nodes = streams.streams(LossStreams::Level::node);
    std::vector<size_t> order(nodes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Xorshift random;
    for (size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[random.next() % left]);
    size_t events = 0, chosen = 0;
    for (; chosen < order.size() && events < enough; ++chosen)
        for (size_t loss = nodes[order[chosen]].begin; loss < nodes[order[chosen]].end; ++loss)
            events += band.holds(streams.left_s(static_cast<uint32_t>(loss)));
    order.resize(chosen);
    return order;
}

Sample sample_of(const LossStreams& streams, const std::vector<size_t>& nodes, LossStreams::Level level, LengthBand band) {
    Sample sample;
    const auto take = [&](const LossStream& stream) {
        const size_t before = sample.begins_s.size();
        for (size_t place = stream.begin; place < stream.end; ++place)
            if (const uint32_t loss = streams.at(level, place); band.holds(streams.left_s(loss))) {
                sample.begins_s.push_back(streams.begin_s(loss));
                sample.lengths_s.push_back(streams.left_s(loss));
            }
        if (sample.begins_s.size() > before)
            sample.ends.push_back(sample.begins_s.size());
    };
    for (const size_t node : nodes) {
        const LossStream& stream = streams.streams(LossStreams::Level::node)[node];
        if (level == LossStreams::Level::node)
            take(stream);
        else
            for (const LossStream& cpu : streams.cpus_of(stream))
                take(cpu);
    }
    return sample;
}

} // namespace plumb::noise
