#include "replay/call_sites.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace plumb::replay {

namespace {

uint64_t combined(uint64_t hash, uint64_t number) {
    hash = (hash ^ number) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

uint64_t hash_of(std::string_view text) { // FNV-1a: the same on every machine
    uint64_t hash = 0xcbf29ce484222325;
    for (const char character : text)
        hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3;
    return hash;
}

// Call paths of one process as numbers that are equal for the same path of the same program elsewhere.
class PathNumbers {
  public:
    explicit PathNumbers(const model::Process& process) : numbers_(process.paths.size()) {
        for (const model::Module& module : process.modules)
            modules_.push_back({module.start, module.end,
                                hash_of(module.build_id.empty() ? module.path : module.build_id) - module.start +
                                    module.file_offset});
        std::ranges::sort(modules_, {}, &Mapping::start);
        if (!numbers_.empty())
            numbers_[0] = 1; // the root; a node comes after its parent
        for (size_t node = 1; node < numbers_.size(); ++node)
            numbers_[node] = combined(numbers_[process.paths[node].parent], place(process.paths[node].address));
    }

    uint64_t number(uint32_t path) const { return path < numbers_.size() ? numbers_[path] : 0; }

  private:
    struct Mapping {
        uint64_t start, end, shift; // address + shift is the same wherever the file is mapped
    };

    uint64_t place(uint64_t address) const {
        const auto after = std::ranges::upper_bound(modules_, address, {}, &Mapping::start);
        if (after == modules_.begin() || address > std::prev(after)->end)
            return address;
        return address + std::prev(after)->shift;
    }

    std::vector<Mapping> modules_;
    std::vector<uint64_t> numbers_;
};


// Waiting for messages by call site of the rank at `row`.
std::map<uint32_t, Nanoseconds> message_waits(const MatchedMessages& messages, uint32_t row) {
    std::map<uint32_t, Nanoseconds> waits;
    const auto [first, behind] = messages.late_senders_of(row);
    for (size_t i = first; i < behind; ++i)
        accumulate(waits[messages.late_senders[i].wait_site], messages.late_senders[i].weighted());
    for (const LateReceiver& late : messages.late_receivers_of(row))
        accumulate(waits[late.wait_site], (late.end - late.begin) * static_cast<Nanoseconds>(messages.weight));
    return waits;
}

class Merger {
  public:
    Merger(const model::Run& run, const Job& job) : run_(run), job_(job) {}

    void take(uint32_t row, const RankCharge& charge, const MatchedMessages& messages, uint64_t stride) {
        const model::Process& process = run_.processes[job_.ranks[row].process];
        const PathNumbers paths(process);
        const auto waits = message_waits(messages, row);
        std::map<size_t, double> times; // of this rank
        for (uint32_t i = 0; i < process.mpi->sites.size(); ++i) {
            const model::MpiSite& site = process.mpi->sites[i];
            const size_t at = find(row, site, paths);
            const double time_s = static_cast<double>(site.time_ns) * 1e-9;
            times[at] += time_s;
            add(row, site, sites_[at]);
            double wait_s = 0, operation_s = 0;
            if (i < charge.sites.size()) {
                wait_s = seconds(charge.sites[i].wait) * static_cast<double>(stride);
                operation_s = seconds(charge.sites[i].operation) * static_cast<double>(stride);
            }
            if (const auto found = waits.find(i); found != waits.end())
                wait_s += seconds(found->second);
            const double most_s = site.kind & trace::kMpiNonblocking ? wait_s + operation_s : time_s;
            const double scale = wait_s + operation_s > most_s ? most_s / (wait_s + operation_s) : 1;
            sites_[at].wait_s += wait_s * scale;
            sites_[at].operation_s += operation_s * scale;
        }
        for (const auto& [at, time_s] : times) {
            model::MpiCallSite& site = sites_[at];
            site.least_rank_s = site.ranks == 0 ? time_s : std::min(site.least_rank_s, time_s);
            if (site.ranks == 0 || time_s > site.most_rank_s) {
                site.most_rank_s = time_s;
                site.most_rank = job_.ranks[row].rank;
            }
            site.ranks++;
        }
    }

    std::vector<model::MpiCallSite> heaviest(size_t most) {
        std::ranges::stable_sort(sites_, std::ranges::greater(), &model::MpiCallSite::time_s);
        if (sites_.size() > most)
            sites_.resize(most);
        return std::move(sites_);
    }

  private:
    using Key = std::tuple<std::string, uint64_t, bool, uint32_t, std::string>; // call, path, communicator's kind, size, name

    const Membership* membership(uint32_t row, uint32_t id) const {
        const auto& comms = job_.ranks[row].comms;
        const auto found = std::ranges::lower_bound(comms, id, {}, &Membership::id);
        return found == comms.end() || found->id != id ? nullptr : &*found;
    }

    size_t find(uint32_t row, const model::MpiSite& site, const PathNumbers& paths) {
        const Membership* member = membership(row, site.comm);
        const Communicator* comm = member ? &job_.comms[member->comm] : nullptr;
        Key key{site.call, paths.number(site.path), comm && comm->world, comm ? comm->size : 0,
                comm ? comm->name : std::string()};
        const auto [found, is_new] = places_.try_emplace(std::move(key), sites_.size());
        if (is_new) {
            model::MpiCallSite& made = sites_.emplace_back();
            made.call = site.call;
            made.kind = site.kind;
            made.process = job_.ranks[row].process;
            made.path = site.path;
            made.comm = member ? member->comm : model::MpiCallSite::kNoComm;
        }
        return found->second;
    }

    void add(uint32_t row, const model::MpiSite& site, model::MpiCallSite& sum) const {
        sum.calls += site.calls;
        sum.found_nothing += site.found_nothing;
        sum.failed += site.failed;
        sum.sent_bytes += site.sent_bytes;
        sum.received_bytes += site.received_bytes;
        sum.time_s += static_cast<double>(site.time_ns) * 1e-9;
        const double longest_s = static_cast<double>(site.longest_ns) * 1e-9;
        if (longest_s > sum.longest_s) {
            sum.longest_s = longest_s;
            sum.longest_rank = job_.ranks[row].rank;
        }
        for (size_t i = 0; i < sum.sizes.size(); ++i)
            sum.sizes[i] += site.sizes[i];
    }

    const model::Run& run_;
    const Job& job_;
    std::vector<model::MpiCallSite> sites_;
    std::map<Key, size_t> places_;
};

} // namespace

std::vector<model::MpiCallSite> merge_call_sites(const model::Run& run, const Job& job,
                                                 const std::vector<RankCharge>& charges, const MatchedMessages& messages,
                                                 uint64_t stride, size_t most) {
    Merger merger(run, job);
    for (uint32_t row = 0; row < job.ranks.size(); ++row)
        merger.take(row, charges[row], messages, stride);
    return merger.heaviest(most);
}

} // namespace plumb::replay
