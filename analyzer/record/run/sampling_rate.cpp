#include "record/run/sampling_rate.h"

namespace plumb::record {

namespace {
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kFullRate_ns = 2 * kSecond; // 482 samples of a CPU
constexpr uint64_t kLookEvery_ns = kSecond / 2;
constexpr double kManyBegin_hz = 20, kFewBegin_hz = 5; // apart, so that the rate does not swing
} // namespace

bool SamplingRate::look(uint64_t now_ns, uint64_t begun) {
    if (now_ns - last_ns_ < kLookEvery_ns)
        return is_slow_;
    const double seconds = static_cast<double>(now_ns - last_ns_) / static_cast<double>(kSecond);
    const double begun_hz = static_cast<double>(begun - last_begun_) / seconds;
    last_ns_ = now_ns;
    last_begun_ = begun;
    if (now_ns - begin_ns_ >= kFullRate_ns)
        is_slow_ = begun_hz < (is_slow_ ? kManyBegin_hz : kFewBegin_hz);
    return is_slow_;
}

} // namespace plumb::record
