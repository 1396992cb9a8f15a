#include "simulate/event_calendar.h"

#include <algorithm>
#include <cmath>

namespace plumb::simulate {

namespace {

constexpr double kFewestEvents = 4096; // of a stretch, as far as the sources allow: making one costs something for each source
constexpr size_t kEventsInBucket = 8;

} // namespace

EventCalendar::EventCalendar(const RankNoise& noise, uint32_t noise_class)
    : noise_(&noise), class_(noise_class), is_repeating_(noise.is_repeating(noise_class)) {
    const double period_s = noise.train(noise_class).period_s(), in_period = noise.events_hz(noise_class) * period_s;
    width_s_ = period_s * std::ceil(std::max(1.0, kFewestEvents / std::max(in_period, 1.0)));
}

// Counting sort: the entries of a bucket need no order, since those who ask follow each rank on their own.
const EventCalendar::Stretch& EventCalendar::made(int64_t number) {
    if (is_repeating_)
        number = 0;
    Stretch& stretch = stretches_[static_cast<size_t>(number & 1)];
    if (stretch.number == number)
        return stretch;
    stretch.number = number;
    stretch.begin_s = static_cast<double>(number) * width_s_;
    const double end_s = static_cast<double>(number + 1) * width_s_;
    drawn_.clear();
    noise_->each_of_class(class_, stretch.begin_s, end_s, [&](double begin_s, uint32_t rank) {
        drawn_.push_back({begin_s, rank});
    });
    const size_t buckets = drawn_.size() / kEventsInBucket + 1;
    stretch.bucket_s = width_s_ / static_cast<double>(buckets);
    stretch.starts.assign(buckets + 1, 0);
    const auto clamped = [&](const Entry& entry) { return std::min(stretch.bucket_of(entry.begin_s), buckets - 1); };
    for (const Entry& entry : drawn_)
        stretch.starts[clamped(entry) + 1]++;
    for (size_t i = 1; i <= buckets; i++)
        stretch.starts[i] += stretch.starts[i - 1];
    stretch.entries.resize(drawn_.size());
    for (const Entry& entry : drawn_)
        stretch.entries[stretch.starts[clamped(entry)]++] = entry; // moves each start to the bucket's end: to the next start
    for (size_t i = buckets; i > 0; i--)
        stretch.starts[i] = stretch.starts[i - 1];
    stretch.starts[0] = 0;
    return stretch;
}

} // namespace plumb::simulate
