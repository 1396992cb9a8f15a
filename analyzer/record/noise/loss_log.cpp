#include "record/noise/loss_log.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace plumb::record {

namespace {

constexpr size_t kWindow = 32; // quanta: of so many, one is not disturbed, else the CPU was slower for all of them
constexpr uint64_t kFirstBinEnd_ns = 128;
constexpr double kSlowShare = 0.002; // of a quantum; less is not a change of speed worth a name

} // namespace

// Half octaves: the bit below the highest one, against the square root of two (181/128).
size_t noise_bin(uint64_t length_ns) {
    if (length_ns < kFirstBinEnd_ns)
        return 0;
    const auto octave = static_cast<size_t>(std::bit_width(length_ns) - 1);
    const bool is_upper = length_ns >= noise_bin_begin_ns(2 * (octave - 7) + 2);
    return std::min<size_t>(1 + 2 * (octave - 7) + is_upper, trace::kNoiseBins - 1);
}

uint64_t noise_bin_begin_ns(size_t bin) {
    if (bin == 0)
        return 0;
    const uint64_t octave_ns = kFirstBinEnd_ns << ((bin - 1) / 2);
    return (bin - 1) % 2 == 0 ? octave_ns : octave_ns / 128 * 181;
}

uint64_t LossLog::Quantum::worked_ns() const {
    uint64_t off_ns = own_ns;
    for (const Absence& absence : absences)
        off_ns += absence.length_ns();
    return duration_ns - std::min(duration_ns, off_ns);
}

LossLog::LossLog(uint64_t begin_ns, Limits limits) : limits_(limits), begin_ns_(begin_ns), now_ns_(begin_ns) {
    totals.begin_ns = begin_ns;
    limits_.interval_ns = std::max<uint64_t>(limits_.interval_ns, 1);
}

void LossLog::quantum(uint64_t duration_ns, uint64_t own_ns, std::vector<Absence> absences) {
    Quantum quantum{now_ns_, duration_ns, std::min(own_ns, duration_ns), std::move(absences)};
    now_ns_ += duration_ns;
    totals.end_ns = now_ns_;
    if (is_settled_) {
        window_.push_back(std::move(quantum));
        if (window_.size() >= kWindow)
            take_window();
        return;
    }
    unsettled_.push_back(std::move(quantum));
    if (unsettled_.size() >= limits_.unsettled)
        settle();
}

void LossLog::gap(uint64_t duration_ns) {
    now_ns_ += duration_ns;
    totals.end_ns = now_ns_;
}

void LossLog::settle() {
    if (!is_settled_ && !unsettled_.empty()) {
        std::vector<uint64_t> worked_ns;
        for (const Quantum& quantum : unsettled_)
            worked_ns.push_back(quantum.worked_ns());
        base_ = base_of(std::move(worked_ns));
        is_settled_ = true;
        totals.quantum_ps = base_.quantum_ns * 1000;
        totals.floor_ns = totals.least_ns = base_.floor_ns;
        for (Quantum& quantum : std::exchange(unsettled_, {})) {
            window_.push_back(std::move(quantum));
            if (window_.size() >= kWindow)
                take_window();
        }
    }
    take_window();
}

// Where even the fastest quantum of many consecutive ones is clearly longer than usual, the CPU was slower.
void LossLog::take_window() {
    if (window_.empty())
        return;
    uint64_t fastest_ns = UINT64_MAX;
    for (const Quantum& quantum : window_)
        fastest_ns = std::min(fastest_ns, quantum.worked_ns());
    const uint64_t slow_ns = fastest_ns > base_.quantum_ns ? fastest_ns - base_.quantum_ns : 0;
    const bool is_slow = window_.size() >= kWindow && slow_ns > base_.floor_ns &&
                         static_cast<double>(slow_ns) > kSlowShare * static_cast<double>(base_.quantum_ns);
    for (const Quantum& quantum : std::exchange(window_, {}))
        take(quantum, is_slow ? slow_ns : 0);
    if (losses_.size() > limits_.losses)
        give_up_shortest();
}

void LossLog::take(const Quantum& quantum, uint64_t slow_ns) {
    ++totals.quanta;
    const uint64_t without_own_ns = quantum.duration_ns - quantum.own_ns;
    const uint64_t lost_ns = without_own_ns - std::min(without_own_ns, base_.quantum_ns);
    totals.own_ns += quantum.own_ns;
    totals.lost_ns += lost_ns;
    add_to_series(quantum.begin_ns, quantum.begin_ns + quantum.duration_ns, lost_ns);
    const size_t bin = noise_bin(lost_ns);
    ++totals.counts[bin];
    totals.times_ns[bin] += lost_ns;

    uint64_t left_ns = lost_ns; // what no absence explains
    for (const Absence& absence : quantum.absences) {
        ++totals.preempted_count;
        for (const Absence::Part& part : absence.parts) {
            const uint64_t length_ns = std::min(part.length_ns(), left_ns);
            totals.preempted_ns += length_ns;
            left_ns -= length_ns;
            keep({.begin_ns = part.begin_ns,
                  .length_ns = length_ns,
                  .cause = part.tid == 0       ? trace::NoiseCause::unnamed
                           : part.is_sometime ? trace::NoiseCause::process_sometime
                                              : trace::NoiseCause::process,
                  .tid = part.tid,
                  .pid = part.pid,
                  .name = part.name});
        }
    }
    const uint64_t slower_ns = std::min(slow_ns, left_ns);
    totals.slow_ns += slower_ns;
    left_ns -= slower_ns;
    // Where in the quantum it was lost is not known: its middle is half a quantum off at most.
    keep({.begin_ns = quantum.begin_ns + (quantum.duration_ns - std::min(quantum.duration_ns, left_ns)) / 2,
          .length_ns = left_ns, .cause = trace::NoiseCause::unknown, .tid = 0, .pid = 0, .name = 0});
}

void LossLog::keep(const LostTime& loss) {
    if (loss.length_ns < base_.floor_ns) {
        if (loss.cause == trace::NoiseCause::unknown)
            totals.small_ns += loss.length_ns;
        return;
    }
    if (loss.length_ns >= totals.least_ns) {
        losses_.push_back(loss);
        return;
    }
    ++totals.left_out_count;
    totals.left_out_ns += loss.length_ns;
}

// About half of them, so that it happens seldom.
void LossLog::give_up_shortest() {
    std::vector<uint64_t> lengths_ns;
    for (const LostTime& loss : losses_)
        lengths_ns.push_back(loss.length_ns);
    const auto middle = lengths_ns.begin() + static_cast<ptrdiff_t>(lengths_ns.size() / 2);
    std::ranges::nth_element(lengths_ns, middle);
    totals.least_ns = std::max(totals.least_ns + 1, *middle);
    std::erase_if(losses_, [this](const LostTime& loss) {
        const bool is_short = loss.length_ns < totals.least_ns;
        totals.left_out_count += is_short;
        totals.left_out_ns += is_short ? loss.length_ns : 0;
        return is_short;
    });
}

// Spread evenly over the quantum, which may reach over several intervals.
void LossLog::add_to_series(uint64_t begin_ns, uint64_t end_ns, uint64_t lost_ns) {
    if (end_ns <= begin_ns)
        return;
    const uint64_t length_ns = limits_.interval_ns;
    for (uint64_t at_ns = begin_ns; at_ns < end_ns;) {
        const uint64_t index = (at_ns - begin_ns_) / length_ns;
        const uint64_t until_ns = std::min(end_ns, begin_ns_ + (index + 1) * length_ns);
        if (index >= limits_.intervals)
            return;
        if (series_ns.size() <= index)
            series_ns.resize(index + 1, 0);
        series_ns[index] += static_cast<uint64_t>(static_cast<double>(lost_ns) * static_cast<double>(until_ns - at_ns) /
                                                  static_cast<double>(end_ns - begin_ns));
        at_ns = until_ns;
    }
}

} // namespace plumb::record
