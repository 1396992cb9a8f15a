#include "noise/loss_streams.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace plumb::noise {

namespace {

constexpr double kFinestGrain_s = 1e-6, kCoarsestGrain_s = 1e-3;
constexpr double kTooLittleOfAnEvent = 0.1; // what else happened in a long event is too uncertain to look for

// The shortest time, but for one in a hundred, between the end of a loss and the begin of the next on that CPU: at least one
// quantum where quanta were measured. Rare losses are far apart whatever measured them, hence the upper bound.
double grain_of(const std::vector<double>& begin_s, const std::vector<float>& length_s, const std::vector<LossStream>& cpus) {
    std::vector<double> gaps_s;
    const size_t step = std::max<size_t>(1, begin_s.size() / 1'000'000);
    for (const LossStream& cpu : cpus)
        for (size_t loss = cpu.begin; loss + 1 < cpu.end; loss += step)
            gaps_s.push_back(begin_s[loss + 1] - begin_s[loss] - length_s[loss]);
    if (gaps_s.empty())
        return kCoarsestGrain_s;
    const auto hundredth = gaps_s.begin() + static_cast<std::ptrdiff_t>(gaps_s.size() / 100);
    std::ranges::nth_element(gaps_s, hundredth);
    return std::clamp(*hundredth, kFinestGrain_s, kCoarsestGrain_s);
}

} // namespace

LossStreams::LossStreams(const model::NoiseLosses& losses) : measured_s_(losses.measured_s), least_s_(losses.least_s) {
    const auto& all = losses.losses;
    std::vector<uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto before = [&](uint32_t a, uint32_t b) {
        return std::tie(all[a].node, all[a].cpu, all[a].begin_s) < std::tie(all[b].node, all[b].cpu, all[b].begin_s);
    };
    if (!std::ranges::is_sorted(order, before))
        std::ranges::stable_sort(order, before);
    begin_s_.reserve(all.size());
    length_s_.reserve(all.size());
    for (const uint32_t index : order) {
        const model::NoiseLoss& loss = all[index];
        const size_t place = begin_s_.size();
        if (nodes_.empty() || nodes_.back().node != loss.node)
            nodes_.push_back({loss.node, -1, place, place});
        if (cpus_.empty() || cpus_.back().node != loss.node || cpus_.back().cpu != loss.cpu)
            cpus_.push_back({loss.node, loss.cpu, place, place});
        begin_s_.push_back(loss.begin_s);
        length_s_.push_back(static_cast<float>(loss.length_s));
        nodes_.back().end = cpus_.back().end = place + 1;
        measured_s_ = std::max(measured_s_, loss.begin_s);
    }
    left_s_ = length_s_;
    by_node_ = std::move(order);
    std::iota(by_node_.begin(), by_node_.end(), 0u);
    for (const LossStream& node : nodes_)
        std::sort(by_node_.begin() + static_cast<std::ptrdiff_t>(node.begin),
                  by_node_.begin() + static_cast<std::ptrdiff_t>(node.end),
                  [&](uint32_t a, uint32_t b) { return begin_s_[a] < begin_s_[b]; });
    grain_s_ = grain_of(begin_s_, length_s_, cpus_);
}

void LossStreams::explain(uint32_t loss, double length_s) {
    const double left_s = left_s_[loss] - length_s;
    left_s_[loss] = left_s < std::max(least_s_, kTooLittleOfAnEvent * length_s) ? 0 : static_cast<float>(left_s);
}

size_t LossStreams::cpu_stream_of(uint32_t loss) const {
    const auto after = std::ranges::upper_bound(cpus_, size_t{loss}, {}, &LossStream::begin);
    return static_cast<size_t>(after - cpus_.begin()) - 1;
}

std::pair<uint32_t, uint32_t> LossStreams::begun_in(const LossStream& cpu, double from_s, double to_s) const {
    const auto begin = begin_s_.begin() + static_cast<std::ptrdiff_t>(cpu.begin),
               end = begin_s_.begin() + static_cast<std::ptrdiff_t>(cpu.end);
    const auto first = std::lower_bound(begin, end, from_s);
    return {static_cast<uint32_t>(first - begin_s_.begin()),
            static_cast<uint32_t>(std::lower_bound(first, end, to_s) - begin_s_.begin())};
}

std::span<const LossStream> LossStreams::cpus_of(const LossStream& node) const {
    const auto first = std::ranges::lower_bound(cpus_, node.begin, {}, &LossStream::begin);
    const auto end = std::ranges::lower_bound(first, cpus_.end(), node.end, {}, &LossStream::begin);
    return {first, end};
}

} // namespace plumb::noise
