#include "noise/class_assembly.h"

#include "noise/class_facts.h"
#include "noise/duration_fit.h"
#include "noise/node_pattern.h"
#include "noise/other_losses.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace plumb::noise {

namespace {

using Level = LossStreams::Level;
using model::NoiseClass;

constexpr double kFewSlotsOfClass = 5;  // in the time measured: then a CPU's or node's own events need not make a train
constexpr double kMostByChance = 0.05;  // events of other origin among these, on each
constexpr double kSideband = 1.3;       // lengths beside the band that say how many other events it holds
constexpr double kLeastOfLength = 0.9;  // of an event of the class that is summed with another
constexpr size_t kMostFitted = 200'000; // durations
constexpr double kMostOnOneCpu = 1.2;   // trains of a node that are the node's rather than each CPU's
constexpr size_t kMostLooks = 20;       // for events that were missed, as many times as there are events
constexpr double kCertain = 14;         // log-likelihood; e^-14 for a thousand bands and periods that were tried
constexpr double kUsualCpu = 0.5,
                 kNodesCpu = 0.3; // share of the nodes on which a CPU has it; of the events a CPU would have by chance

struct Unit { // a CPU or node with its events in the band
    size_t stream = 0;
    std::vector<uint32_t> losses;
    EventTrain train;
    bool is_member = false;
};

class Assembly {
  public:
    Assembly(LossStreams& streams, const FoundPeriod& found, MachineSize machine)
        : streams_(streams), found_(found), machine_(machine),
          has_few_slots_(streams.measured_s() < kFewSlotsOfClass * found.model.period_s) {}

    std::optional<FoundClass> run() {
        collect();
        choose_members();
        std::vector<bool> is_member(machine_.nodes);
        for (const Unit& unit : units_)
            if (unit.is_member)
                is_member[stream_of(unit).node] = true;
        if (std::ranges::count(is_member, true) == 0)
            return {};
        FoundClass result;
        result.noise.nodes = node_pattern(is_member);
        const bool is_structure = machine_.nodes > 1 && (result.noise.nodes.every > 0 || result.noise.nodes.offsets.empty());
        for (Unit& unit : units_)
            if (!result.noise.nodes.contains(stream_of(unit).node))
                unit.is_member = false;
        if (!is_structure && !keep_certain(result.noise.nodes))
            return {};
        place(result.noise);
        measure(result);
        return result.noise.events > 1 ? std::optional(result) : std::nullopt;
    }

  private:
    const LossStream& stream_of(const Unit& unit) const { return streams_.streams(found_.level)[unit.stream]; }

    void collect() {
        TrainSearch search;
        std::vector<double> begins_s;
        const auto streams = streams_.streams(found_.level);
        const LengthBand wide{found_.band.least_s / kSideband, found_.band.most_s * kSideband};
        size_t beside = 0;
        for (size_t index = 0; index < streams.size(); ++index) {
            Unit unit{.stream = index, .losses = {}, .train = {}, .is_member = false};
            begins_s.clear();
            for (size_t place = streams[index].begin; place < streams[index].end; ++place) {
                const uint32_t loss = streams_.at(found_.level, place);
                if (found_.band.holds(streams_.left_s(loss))) {
                    unit.losses.push_back(loss);
                    begins_s.push_back(streams_.begin_s(loss));
                } else {
                    beside += wide.holds(streams_.left_s(loss));
                }
            }
            if (unit.losses.empty())
                continue;
            unit.train = search.best(begins_s, found_.model, streams_.measured_s());
            units_.push_back(std::move(unit));
        }
        const double logarithms = std::log(found_.band.most_s / found_.band.least_s) / (2 * std::log(kSideband));
        const double all = found_.level == Level::node ? machine_.nodes : double(machine_.nodes) * machine_.cpus_per_node;
        by_chance_ = static_cast<double>(beside) * logarithms / std::max(1.0, all);
    }

    void choose_members() {
        const auto most_slots = static_cast<size_t>(streams_.measured_s() / found_.model.period_s) + 1;
        for (Unit& unit : units_) {
            unit.is_member = is_own_train(unit.train, units_.size());
            if (!unit.is_member && has_few_slots_ && by_chance_ < kMostByChance && unit.losses.size() <= most_slots) {
                // As many as there can be, at most: whichever they are, they are the class's.
                unit.is_member = true;
                unit.train.events.resize(unit.losses.size());
                std::iota(unit.train.events.begin(), unit.train.events.end(), 0u);
                unit.train.steps.assign(unit.losses.size(), 0);
            }
        }
    }

    // Without a structure of the nodes that speaks for it, a train must stand for itself: it was chosen among many.
    bool keep_certain(model::NoiseNodes& nodes) {
        std::vector<uint32_t> certain;
        for (Unit& unit : units_) {
            unit.is_member = unit.is_member && unit.train.score > kCertain + std::log(static_cast<double>(units_.size()));
            if (unit.is_member)
                certain.push_back(stream_of(unit).node);
        }
        if (machine_.nodes > 1)
            nodes.offsets = {certain.begin(), std::unique(certain.begin(), certain.end())};
        return !certain.empty();
    }

    // Whether each CPU has its own events, and which CPUs.
    void place(NoiseClass& noise) const {
        std::map<int, double> on_cpu;
        std::map<uint32_t, int> trains_of_node;
        double all = 0, events = 0;
        for (const Unit& unit : units_) {
            if (!unit.is_member)
                continue;
            ++trains_of_node[stream_of(unit).node];
            events += static_cast<double>(unit.train.events.size());
            if (found_.level == Level::cpu) {
                ++on_cpu[stream_of(unit).cpu];
                ++all;
            } else {
                for (const uint32_t event : unit.train.events) {
                    const LossStream& cpu = streams_.streams(Level::cpu)[streams_.cpu_stream_of(unit.losses[event])];
                    ++on_cpu[cpu.cpu];
                    ++all;
                }
            }
        }
        const auto nodes = static_cast<double>(trains_of_node.size()), cpus = static_cast<double>(machine_.cpus_per_node);
        const bool is_of_node = found_.level == Level::node || machine_.cpus_per_node == 1 || all <= kMostOnOneCpu * nodes;
        noise.scope = is_of_node ? NoiseClass::Scope::node : NoiseClass::Scope::cpu;
        // A CPU counts when it has what all would have if they shared alike; of each CPU's own trains, when most nodes have one
        // there.
        const double least = is_of_node ? kNodesCpu * all / cpus : kUsualCpu * nodes;
        for (const auto& [cpu, count] : on_cpu)
            if (count >= least)
                noise.cpus.push_back(cpu);
        if (!is_choice_of_cpus(noise.cpus.size(), machine_.cpus_per_node, events))
            noise.cpus.clear();
    }

    void measure(FoundClass& result) {
        NoiseClass& noise = result.noise;
        double span_s = 0, steps = 0;
        std::vector<double> durations_s;
        std::map<uint32_t, std::vector<double>> begins_s;
        std::vector<double> deviations_s;
        for (const Unit& unit : units_) {
            if (!unit.is_member)
                continue;
            auto& of_node = begins_s[stream_of(unit).node];
            const bool is_first = of_node.empty();
            for (size_t event = 0; event < unit.train.events.size(); ++event) {
                const uint32_t loss = unit.losses[unit.train.events[event]];
                durations_s.push_back(streams_.left_s(loss));
                if (is_first)
                    of_node.push_back(streams_.begin_s(loss));
                if (unit.train.steps[event] == 0)
                    continue;
                const double interval_s = streams_.begin_s(loss) - streams_.begin_s(unit.losses[unit.train.events[event - 1]]);
                span_s += interval_s;
                steps += unit.train.steps[event];
                deviations_s.push_back((interval_s - unit.train.steps[event] * found_.model.period_s) /
                                       std::sqrt(unit.train.steps[event]));
            }
        }
        noise.regularity = NoiseClass::Regularity::periodic;
        const double period_s = steps > 0 ? span_s / steps : found_.model.period_s;
        noise.frequency_hz = 1 / period_s;
        noise.jitter = jitter_of(deviations_s) / period_s;
        std::vector<double> fitted_s;
        for (size_t index = 0, step = durations_s.size() / kMostFitted + 1; index < durations_s.size(); index += step)
            fitted_s.push_back(durations_s[index]);
        noise.duration = fit_duration(std::move(fitted_s), streams_.least_s());
        subtract_others(streams_, noise.duration, found_.band, cpus_of_members());
        explain(result, period_s);
        std::vector<std::vector<double>> by_node;
        for (auto& [node, list] : begins_s)
            by_node.push_back(std::move(list));
        noise.phase = phase_of(by_node, found_.model.half_window_s(1), streams_.measured_s());
        noise.confidence = found_.score > 0 ? std::clamp(1 - found_.control / found_.score, 0.0, 1.0) : 0;
    }

    std::vector<size_t> cpus_of_members() const {
        std::vector<size_t> cpus;
        for (const Unit& unit : units_)
            if (unit.is_member)
                for (size_t event = 0; event < std::min<size_t>(unit.train.events.size(), 8); ++event)
                    cpus.push_back(streams_.cpu_stream_of(unit.losses[unit.train.events[event]]));
        return cpus;
    }

    double jitter_of(std::vector<double>& deviations_s) const {
        if (deviations_s.size() < 3)
            return 0;
        const auto middle = deviations_s.begin() + static_cast<std::ptrdiff_t>(deviations_s.size() / 2);
        std::ranges::nth_element(deviations_s, middle);
        const double middle_s = *middle;
        for (double& deviation_s : deviations_s)
            deviation_s = std::abs(deviation_s - middle_s);
        std::ranges::nth_element(deviations_s, middle);
        const double sigma_s = 1.4826 * *middle, grain_s = streams_.grain_s();
        return sigma_s < grain_s ? 0
                                 : std::sqrt(sigma_s * sigma_s - grain_s * grain_s / 6); // less cannot be distinguished from the grain
    }

    void explain(FoundClass& result, double period_s) {
        for (const Unit& unit : units_) {
            if (!unit.is_member)
                continue;
            for (size_t event = 0; event < unit.train.events.size(); ++event) {
                const uint32_t loss = unit.losses[unit.train.events[event]];
                result.loss_s += streams_.left_s(loss);
                streams_.explain(loss, streams_.left_s(loss));
                ++result.noise.events;
            }
            explain_sums(unit, result, period_s);
        }
    }

    // Where an event of the train was missed, a longer loss may hold it together with another event.
    void explain_sums(const Unit& unit, FoundClass& result, double period_s) {
        const LossStream& stream = stream_of(unit);
        const double window_s = found_.model.half_window_s(1), length_s = result.noise.duration.mean_s;
        if (window_s > 0.1 * period_s || unit.train.events.empty())
            return;
        size_t place = stream.begin, looks = kMostLooks * unit.train.events.size();
        const auto look = [&](double due_s) {
            --looks;
            while (place > stream.begin && streams_.begin_s(streams_.at(found_.level, place - 1)) >= due_s - window_s)
                --place;
            while (place < stream.end && streams_.begin_s(streams_.at(found_.level, place)) < due_s - window_s)
                ++place;
            for (size_t near = place; near < stream.end; ++near) {
                const uint32_t loss = streams_.at(found_.level, near);
                if (streams_.begin_s(loss) > due_s + window_s)
                    return;
                if (streams_.left_s(loss) >= kLeastOfLength * length_s) {
                    const double part_s = std::min<double>(length_s, streams_.left_s(loss));
                    streams_.explain(loss, part_s);
                    result.loss_s += part_s;
                    ++result.noise.events;
                    return;
                }
            }
        };
        const auto begin_of = [&](size_t event) { return streams_.begin_s(unit.losses[unit.train.events[event]]); };
        for (double due_s = begin_of(0) - period_s; due_s > -window_s && looks > 0; due_s -= period_s)
            look(due_s);
        for (size_t event = 1; event < unit.train.events.size(); ++event) {
            const double from_s = begin_of(event - 1), to_s = begin_of(event);
            const double missed = std::round((to_s - from_s) / period_s);
            for (double slot = 1; slot < missed && looks > 0; ++slot)
                look(from_s + (to_s - from_s) * slot / missed);
        }
        for (double due_s = begin_of(unit.train.events.size() - 1) + period_s; due_s < streams_.measured_s() && looks > 0;
             due_s += period_s)
            look(due_s);
    }

    LossStreams& streams_;
    const FoundPeriod& found_;
    MachineSize machine_;
    bool has_few_slots_;
    std::vector<Unit> units_;
    double by_chance_ = 0; // events in the band, of other origin, on each CPU or node
};

} // namespace

std::optional<FoundClass> assemble_periodic(LossStreams& streams, const FoundPeriod& found, MachineSize machine) {
    return Assembly(streams, found, machine).run();
}

} // namespace plumb::noise
