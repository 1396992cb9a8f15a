#include "replay/collectives/epochs.h"

#include "trace/file/mixed_hash.h"

#include <algorithm>
#include <numeric>

namespace plumb::replay {

namespace {

void keep_latest(Epoch& epoch, const Arrival& arrival) {
    if (arrival.row == UINT32_MAX)
        return;
    if (epoch.last.row == UINT32_MAX || arrival.later_than(epoch.last)) {
        epoch.second = epoch.last;
        epoch.last = arrival;
    } else if (epoch.second.row == UINT32_MAX || arrival.later_than(epoch.second)) {
        epoch.second = arrival;
    }
}

void keep_site(Epoch& epoch, uint32_t row, uint32_t site) {
    if (row < epoch.site_row) {
        epoch.site_row = row;
        epoch.site = site;
    }
}

// Somebody left before the last one came: nobody was waited for.
constexpr Nanoseconds kClocksDiffer = 10'000; // those of two hosts, once aligned
void look_who_passed(Epoch& epoch) {
    if ((epoch.kind & trace::kMpiMayPass) && epoch.first_end + kClocksDiffer < epoch.last.begin)
        epoch.kind &= ~uint32_t{trace::kMpiSynchronising};
}

} // namespace

Arrival Epoch::awaited() const {
    if (is_neighbour())
        return {};
    if (kind & trace::kMpiFromRoot)
        return root;
    if (kind & (trace::kMpiSynchronising | trace::kMpiToRoot | trace::kMpiPrefix))
        return last;
    return {};
}

size_t EpochTable::KeyHash::operator()(const Key& key) const {
    return trace::MixedHash()(key.sequence * 0x9e3779b97f4a7c15 + key.comm);
}

EpochTable::EpochTable(const Job& job, Limits limits)
    : job_(&job), limits_(limits), stride_(job.collective_stride) {}

// A rank's file follows the order of time for the most part, and so does everybody else's: the next place is usually the
// one behind the last.
uint32_t EpochTable::place(uint32_t comm, uint64_t sequence) {
    for (const uint32_t guess : {last_place_ + 1, last_place_})
        if (guess < epochs_.size() && epochs_[guess].sequence == sequence && epochs_[guess].comm == comm)
            return last_place_ = guess;
    const auto [found, is_new] = places_.try_emplace({sequence, comm}, static_cast<uint32_t>(epochs_.size()));
    if (is_new) {
        Epoch& epoch = epochs_.emplace_back();
        epoch.comm = comm;
        epoch.sequence = sequence;
        first_sample_.push_back(samples_.size());
        samples_.resize(samples_.size() + job_->comms[comm].sampled.size());
    }
    return last_place_ = found->second;
}

void EpochTable::take(uint32_t row, const Collective& event) {
    if (event.sequence % stride_ != 0)
        return;
    const uint32_t at = place(event.membership->comm, event.sequence);
    Epoch& epoch = epochs_[at];
    epoch.kind |= event.kind;
    epoch.arrivals++;
    const Arrival arrival{.begin = event.begin, .row = row, .member = event.membership->member};
    keep_latest(epoch, arrival);
    if (event.root >= 0 && event.is_root() && (epoch.root.row == UINT32_MAX || row < epoch.root.row))
        epoch.root = arrival;
    keep_site(epoch, row, event.site);
    epoch.first = std::min(epoch.first, event.begin);
    epoch.end = std::max(epoch.end, event.end);
    epoch.first_end = std::min(epoch.first_end, event.end);
    epoch.sum_begin += static_cast<uint64_t>(event.begin);
    if (event.membership->slot != Membership::kNoSlot)
        samples_[first_sample_[at] + event.membership->slot] = {event.begin, event.compute(), event.gap_mpi};
    if (epochs_.size() > limits_.rows || samples_.size() > limits_.samples)
        thin();
}

void EpochTable::merge(const EpochTable& other) {
    while (stride_ < other.stride_)
        thin();
    for (size_t from = 0; from < other.epochs_.size(); ++from) {
        const Epoch& theirs = other.epochs_[from];
        if (theirs.sequence % stride_ != 0)
            continue;
        const uint32_t at = place(theirs.comm, theirs.sequence);
        Epoch& ours = epochs_[at];
        ours.kind |= theirs.kind;
        ours.arrivals += theirs.arrivals;
        keep_latest(ours, theirs.last);
        keep_latest(ours, theirs.second);
        if (theirs.root.row < ours.root.row)
            ours.root = theirs.root;
        keep_site(ours, theirs.site_row, theirs.site);
        ours.first = std::min(ours.first, theirs.first);
        ours.end = std::max(ours.end, theirs.end);
        ours.first_end = std::min(ours.first_end, theirs.first_end);
        ours.sum_begin += theirs.sum_begin;
        for (size_t slot = 0; slot < job_->comms[theirs.comm].sampled.size(); ++slot)
            if (const Sample& sample = other.samples_[other.first_sample_[from] + slot]; sample.begin != INT64_MIN)
                samples_[first_sample_[at] + slot] = sample;
        if (epochs_.size() > limits_.rows || samples_.size() > limits_.samples)
            thin();
    }
}

bool EpochTable::fits(const Job& job) const {
    const auto is_row = [&](uint32_t row) { return row < job.ranks.size() || row == UINT32_MAX; };
    if (stride_ == 0 || first_sample_.size() != epochs_.size())
        return false;
    for (size_t at = 0; at < epochs_.size(); ++at) {
        const Epoch& epoch = epochs_[at];
        if (epoch.comm >= job.comms.size() || !is_row(epoch.site_row) || !is_row(epoch.last.row) ||
            !is_row(epoch.second.row) || !is_row(epoch.root.row) || first_sample_[at] > samples_.size() ||
            samples_.size() - first_sample_[at] < job.comms[epoch.comm].sampled.size())
            return false;
    }
    return true;
}

void EpochTable::thin() {
    stride_ *= 2;
    size_t kept = 0, sample = 0;
    places_.clear();
    for (size_t at = 0; at < epochs_.size(); ++at) {
        if (epochs_[at].sequence % stride_ != 0)
            continue;
        const size_t count = job_->comms[epochs_[at].comm].sampled.size();
        std::copy_n(samples_.begin() + static_cast<ptrdiff_t>(first_sample_[at]), count,
                    samples_.begin() + static_cast<ptrdiff_t>(sample));
        epochs_[kept] = epochs_[at];
        first_sample_[kept] = sample;
        places_.emplace(Key{epochs_[kept].sequence, epochs_[kept].comm}, static_cast<uint32_t>(kept));
        sample += count;
        kept++;
    }
    epochs_.resize(kept);
    first_sample_.resize(kept);
    samples_.resize(sample);
    last_place_ = 0;
}

void EpochTable::find_medians(uint32_t place, const LateLevels& late) {
    Epoch& epoch = epochs_[place];
    const Communicator& comm = job_->comms[epoch.comm];
    epoch.complete = epoch.arrivals >= 2 && epoch.arrivals == comm.recorded;
    std::vector<Nanoseconds> begins, mpis;
    struct Computes {
        std::vector<Nanoseconds> others, all; // without the awaited one, and with it
    } any, usual;
    for (size_t slot = 0; slot < comm.sampled.size(); ++slot) {
        const Sample& sample = samples_[first_sample_[place] + slot];
        if (sample.begin == INT64_MIN)
            continue;
        const bool is_usual = late.size() > 0 && late.level_of(comm.sampled[slot]) == late.size();
        any.all.push_back(sample.compute);
        if (is_usual)
            usual.all.push_back(sample.compute);
        if (comm.sampled[slot] == epoch.awaited().row)
            continue; // it is measured against the others
        begins.push_back(sample.begin);
        mpis.push_back(sample.mpi);
        any.others.push_back(sample.compute);
        if (is_usual)
            usual.others.push_back(sample.compute);
    }
    // Where those that are late together are by themselves, they are what is usual there.
    Computes& compared = 4 * usual.others.size() < any.others.size() || usual.all.size() < 2 ? any : usual;
    epoch.median_begin = median(begins);
    epoch.median_compute = median(compared.others);
    epoch.median_mpi = median(mpis);
    epoch.others_compute = median_of_others(compared.all);
}

void EpochTable::finish(const LateLevels& late) {
    for (uint32_t place = 0; place < epochs_.size(); ++place) {
        look_who_passed(epochs_[place]);
        find_medians(place, late);
    }
    samples_ = std::vector<Sample>(); // "= {}" would keep the memory
    first_sample_ = std::vector<size_t>();
    places_ = decltype(places_)();
    std::ranges::sort(epochs_, [](const Epoch& left, const Epoch& right) {
        return left.comm != right.comm ? left.comm < right.comm : left.sequence < right.sequence;
    });
}

const Epoch* EpochTable::find(uint32_t comm, uint64_t sequence, size_t& hint) const {
    if (sequence % stride_ != 0)
        return nullptr;
    if (hint + 1 < epochs_.size() && epochs_[hint + 1].comm == comm && epochs_[hint + 1].sequence == sequence)
        return &epochs_[++hint];
    const auto found = std::ranges::partition_point(epochs_, [&](const Epoch& epoch) {
        return epoch.comm != comm ? epoch.comm < comm : epoch.sequence < sequence;
    });
    if (found == epochs_.end() || found->comm != comm || found->sequence != sequence)
        return nullptr;
    hint = static_cast<size_t>(found - epochs_.begin());
    return &*found;
}

} // namespace plumb::replay
