#include "simulate/event_train.h"

#include "simulate/duration_draw.h"

#include <cmath>

namespace plumb::simulate {

namespace {

constexpr uint64_t kLengthKey = 0x6c656e677468, kChoiceKey = 0x63686f696365; // apart from the keys of the begins

} // namespace

EventTrain::EventTrain(const model::NoiseClass& noise_class, uint64_t seed)
    : class_(&noise_class), class_key_(key_of(key_of_name(noise_class.name), seed)), period_s_(noise_class.mean_period_s()),
      per_s_(1 / period_s_), is_together_(noise_class.phase == model::NoiseClass::Phase::together),
      is_poisson_(noise_class.regularity == model::NoiseClass::Regularity::poisson) {
    if (noise_class.regularity == model::NoiseClass::Regularity::recorded) {
        recorded_.emplace(noise_class.recorded, seed, is_together_);
    } else if (!is_poisson_) {
        // Of a uniform shift the standard deviation is 1 / sqrt(3) of its most, and an interval has two.
        most_shift_ = noise_class.jitter * std::sqrt(1.5);
    }
}

double EventTrain::length_s(uint64_t source, int64_t number) const {
    if (recorded_)
        return recorded_->length_s(number);
    if (class_->duration.shape == model::NoiseDuration::Shape::constant)
        return class_->duration.mean_s;
    return drawn_length_s(class_->duration, key_of(key_of(class_key_ ^ kLengthKey, source), static_cast<uint64_t>(number)));
}

uint32_t EventTrain::chosen(uint64_t source, int64_t number, uint32_t count) const {
    const uint64_t random = key_of(key_of(class_key_ ^ kChoiceKey, source), static_cast<uint64_t>(number));
    return static_cast<uint32_t>(((random >> 32) * count) >> 32);
}

// The inverse of the distribution of a Poisson variable of mean 1.
int EventTrain::count_in_bin(double fraction) {
    double probability = std::exp(-1.0), below = probability;
    int count = 0;
    while (fraction >= below && count < kMostInBin - 1) {
        count++;
        probability /= count;
        below += probability;
    }
    return count;
}

} // namespace plumb::simulate
