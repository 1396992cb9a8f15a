#include "simulate/recorded_events.h"

namespace plumb::simulate {

namespace {

constexpr uint64_t kRecordedKey = 0x7265636f72646564; // apart from those of classes, which are made of their names

} // namespace

RecordedEvents::RecordedEvents(std::shared_ptr<const model::NoiseLosses> losses, uint64_t seed, bool together)
    : losses_(std::move(losses)), key_(key_of(kRecordedKey, seed)), together_(together) {
    const auto& all = losses_->losses;
    std::vector<double> lost_s(losses_->nodes);
    for (const model::NoiseLoss& loss : all)
        lost_s[loss.node] += loss.length_s;
    most_disturbed_ = static_cast<uint32_t>(std::ranges::max_element(lost_s) - lost_s.begin());
    size_t at = 0;
    for (uint32_t node = 0; node < losses_->nodes; node++)
        for (uint32_t cpu = 0; cpu < losses_->cpus_per_node; cpu++) {
            starts_.push_back(at);
            while (at < all.size() && all[at].node == node && all[at].cpu == static_cast<int32_t>(cpu))
                at++;
        }
    starts_.push_back(at);
}

} // namespace plumb::simulate
