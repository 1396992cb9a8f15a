#include "simulate/rank_noise.h"

#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace plumb::simulate {

namespace {

constexpr double kMostShare = 0.95; // of a CPU that noise may take: beyond, ranks hardly get on, and simulating them takes ages

// Stable: events that begin at once stay in the order of their classes. Few, and each class has its own nearly in order.
void sort_by_begin(std::vector<NoiseEvent>& events, size_t first) {
    constexpr size_t kFew = 24;
    if (events.size() - first > kFew) {
        std::stable_sort(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(),
                         [](const NoiseEvent& a, const NoiseEvent& b) { return a.begin_s < b.begin_s; });
        return;
    }
    for (size_t i = first + 1; i < events.size(); i++)
        for (size_t at = i; at > first && events[at].begin_s < events[at - 1].begin_s; at--)
            std::swap(events[at], events[at - 1]);
}

} // namespace

RankNoise::RankNoise(const model::NoiseMachine& machine, const Job& job, uint64_t seed)
    : machine_(&machine), job_(&job), felt_nodes_(machine.classes.size()), kind_of_node_(job.nodes()) {
    for (const model::NoiseClass& one : machine.classes) {
        std::vector<uint16_t> cpus;
        for (const int cpu : one.cpus) {
            if (cpu < 0 || static_cast<uint32_t>(cpu) >= job.cpus_per_node)
                throw Error(fmt::format("class \"{}\" happens on CPU {}, and a node has {}", one.name, cpu,
                                        counted(job.cpus_per_node, "CPU", "CPUs")));
            cpus.push_back(static_cast<uint16_t>(cpu));
        }
        if (cpus.empty()) {
            cpus.resize(job.cpus_per_node);
            std::iota(cpus.begin(), cpus.end(), uint16_t{0});
        }
        classes_.push_back({EventTrain(one, seed), one.scope == model::NoiseClass::Scope::node, std::move(cpus)});
    }
    place_left_out();
    std::map<std::vector<uint16_t>, uint16_t> known;
    std::vector<uint16_t> kind;
    for (uint32_t node = 0; node < job.nodes(); node++) {
        const uint32_t physical = physical_node(node), here = job.ranks_on(node);
        kind.clear();
        for (uint32_t i = 0; i < classes_.size(); i++)
            if (machine.classes[i].nodes.contains(physical) && !is_absorbed(i, here)) {
                kind.push_back(static_cast<uint16_t>(i));
                felt_nodes_[i]++;
            }
        const auto [entry, is_new] = known.try_emplace(kind, static_cast<uint16_t>(kinds_.size()));
        if (is_new) {
            if (kinds_.size() > UINT16_MAX)
                throw Error("the nodes of the job differ in more than 65,535 ways by their classes of noise");
            check_share_left(kind);
            kinds_.push_back(kind);
        }
        kind_of_node_[node] = entry->second;
    }
}

void RankNoise::place_left_out() {
    const std::vector<uint32_t>& repeated = job_->left_out_of;
    for (const uint32_t node : job_->left_out_nodes) {
        if (!job_->left_out_every) {
            left_out_places_.push_back(node);
            continue;
        }
        const uint32_t place = node % job_->left_out_every;
        const auto below = std::ranges::lower_bound(repeated, place);
        if (below != repeated.end() && *below == place)
            continue; // left out already
        const auto out = static_cast<uint32_t>(below - repeated.begin()), all_out = static_cast<uint32_t>(repeated.size());
        left_out_places_.push_back(node / job_->left_out_every * (job_->left_out_every - all_out) + place - out);
    }
}

uint32_t RankNoise::physical_node(uint32_t node) const {
    for (const uint32_t out : left_out_places_)
        node += node >= out;
    if (!job_->left_out_every)
        return node;
    const auto left_out = static_cast<uint32_t>(job_->left_out_of.size()), kept = job_->left_out_every - left_out;
    uint32_t place = node % kept; // the place-th that is kept, of a group of `every`
    for (const uint32_t out : job_->left_out_of)
        place += place >= out;
    return node / kept * job_->left_out_every + place;
}

bool RankNoise::is_absorbed(uint32_t noise_class, uint32_t ranks_on_node) const {
    const Placed& placed = classes_[noise_class];
    if (const auto& recorded = machine_->classes[noise_class].recorded)
        return ranks_on_node < recorded->cpus_per_node;
    // CPUs without a rank are the last ones of a node.
    return placed.takes_one_cpu ? placed.cpus.back() >= ranks_on_node : placed.cpus.front() >= ranks_on_node;
}

void RankNoise::check_share_left(const std::vector<uint16_t>& kind) const {
    std::vector<double> taken(job_->cpus_per_node);
    for (const uint16_t i : kind) {
        const model::NoiseClass& one = machine_->classes[i];
        const double choices = classes_[i].takes_one_cpu ? static_cast<double>(classes_[i].cpus.size()) : 1;
        const double share = one.frequency_hz * one.duration.mean_s / choices;
        for (const uint16_t cpu : classes_[i].cpus)
            taken[cpu] += share;
    }
    const auto most = std::ranges::max_element(taken);
    if (*most > kMostShare)
        throw Error(fmt::format("the classes of noise together take {} of CPU {} of a node: more than {} cannot be simulated",
                                format_fraction(*most), most - taken.begin(), format_fraction(kMostShare)));
}

void RankNoise::gather(uint32_t rank, double from_s, double to_s, std::vector<NoiseEvent>& events) const {
    const uint32_t node = rank / job_->ranks_per_node, cpu = rank % job_->ranks_per_node, physical = physical_node(node);
    if (from_s < 0)
        from_s = 0;
    const size_t old = events.size();
    for (const uint16_t i : kinds_[kind_of_node_[node]]) {
        const Placed& placed = classes_[i];
        if (placed.takes_one_cpu) {
            const uint64_t source = EventTrain::source_of_node(physical);
            const auto candidates = static_cast<uint32_t>(placed.cpus.size());
            placed.train.for_each(source, from_s, to_s, [&](int64_t number, double begin_s) {
                if (placed.cpus[placed.train.chosen(source, number, candidates)] == cpu)
                    events.push_back({begin_s, placed.train.length_s(source, number), i});
            });
        } else if (std::ranges::binary_search(placed.cpus, cpu)) {
            const uint64_t source = EventTrain::source_of_cpu(physical, cpu);
            placed.train.for_each(source, from_s, to_s, [&](int64_t number, double begin_s) {
                events.push_back({begin_s, placed.train.length_s(source, number), i});
            });
        }
    }
    sort_by_begin(events, old);
}

bool RankNoise::is_repeating(uint32_t i) const {
    const Placed& placed = classes_[i];
    return placed.train.is_periodic() && placed.train.most_shift() == 0 && (!placed.takes_one_cpu || placed.cpus.size() == 1);
}

double RankNoise::events_hz(uint32_t i) const {
    const Placed& placed = classes_[i];
    const auto per_node =
        placed.takes_one_cpu
            ? size_t{1}
            : static_cast<size_t>(std::ranges::count_if(placed.cpus, [&](uint16_t cpu) { return cpu < job_->ranks_per_node; }));
    return machine_->classes[i].frequency_hz * static_cast<double>(per_node) * felt_nodes_[i];
}

} // namespace plumb::simulate
