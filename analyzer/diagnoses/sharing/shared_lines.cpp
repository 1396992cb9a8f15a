#include "diagnoses/sharing/shared_lines.h"

#include "analyses/memory/memory_names.h"
#include "analyses/time/allocator_code.h"
#include "diagnoses/sharing/exchange_code.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

namespace {

constexpr uint64_t kFewestHandovers = 8;
constexpr int kFewestSlices = 4;
constexpr uint64_t kFewestClosePairs = 16; // with fewer of them all pairs are counted: of many lines each is seen seldom
constexpr double kLeastInterleaving = 0.4; // of what threads without any order would show
constexpr double kLeastWritten = 0.05;     // of the samples: behind a value that is seldom changed threads only wait
constexpr double kLeastPenalty = 1.15;     // a contended access against another: two timings of the same differ by less

// Of "struct Counter[16]" with so many bytes: those of one element. 0: no array, or not known.
uint64_t element_bytes(const std::string& type, uint64_t bytes) {
    uint64_t product = 1;
    std::string_view rest = type;
    while (rest.ends_with(']')) {
        const size_t open = rest.rfind('[');
        uint64_t count = 0;
        if (open == rest.npos || std::from_chars(rest.data() + open + 1, rest.data() + rest.size(), count).ec != std::errc() ||
            count == 0 || count > bytes)
            return 0;
        product = count; // of the outermost dimension, which stands first
        rest = rest.substr(0, open);
    }
    return product > 1 && bytes % product == 0 ? bytes / product : 0;
}

SharedPlace from_name(const model::DataName& name, uint64_t address) {
    SharedPlace place;
    place.kind = name.kind == model::DataName::Kind::pointed_structure ? SharedPlace::Kind::structure
                                                                      : SharedPlace::Kind::variable;
    place.name = name.name;
    place.member = name.member;
    place.expression = name.expression;
    place.type = name.type;
    if (!name.file.empty())
        place.declared = name.line ? fmt::format("{}:{}", name.file, name.line) : name.file;
    place.start = name.offset <= address ? address - name.offset : 0;
    place.bytes = name.size;
    place.element_bytes =
        place.kind == SharedPlace::Kind::structure ? name.size : element_bytes(name.type, name.size);
    return place;
}

// Sums over all lines of an object, of both kinds of sharing.
struct Draft {
    SharedObject object;
    std::map<uint64_t, uint64_t> slices; // by their length
    uint64_t close_pairs = 0, close_handovers = 0, all_pairs = 0, all_handovers = 0;
    double close_expected = 0, all_expected = 0;
    double both_ns = 0; // time at accesses, whatever the kind of sharing
    double heaviest_ns = 0;
    std::map<const model::LineTransfer::Access*, double> by_form; // blamed time
};

class Gatherer {
  public:
    Gatherer(model::CallPaths& paths, Sharing sharing) : paths_(paths), allocator_(paths), sharing_(sharing) {}

    std::vector<SharedObject> gather() {
        const std::vector<model::Process>& processes = paths_.run().processes;
        for (size_t process = 0; process < processes.size(); ++process) {
            if (processes[process].shared_lines.empty())
                continue;
            MemoryNames names(paths_, process);
            transfer_ = nullptr;
            for (const model::Host& host : paths_.run().hosts)
                if (host.name == processes[process].host && host.line_transfer)
                    transfer_ = &*host.line_transfer;
            for (const model::SharedLine& line : processes[process].shared_lines)
                add(process, names, line);
        }
        std::vector<SharedObject> objects;
        for (auto& [key, draft] : drafts_)
            if (is_shared(draft))
                objects.push_back(finished(draft));
        std::ranges::stable_sort(objects, std::greater<>(), &SharedObject::cost_ns);
        return objects;
    }

  private:
    // Waiting for the allocator's own locks is reported by heap-contention, what OpenMP runtimes share by the diagnoses of
    // OpenMP: nobody can change their data.
    bool belongs_to_others(size_t process, const model::LineUse& use) {
        const model::Module* module = paths_.module_of(process, use.instruction);
        return (module && model::is_openmp_module(module->path)) || (use.path != 0 && allocator_.contains(process, use.path));
    }

    bool is_wanted(uint64_t same, uint64_t other) const { return sharing_ == Sharing::same_bytes ? same > 0 : other > 0; }

    SharedPlace place_of(size_t process, MemoryNames& names, const model::SharedLine& line, const model::LineUse& use) {
        const uint64_t address = line.address + use.offset;
        const model::DataAccess asked{.address = address,
                                      .width = use.kind.width,
                                      .instruction = use.instruction,
                                      .code = use.code,
                                      .base_value = use.base_value};
        if (const auto name = paths_.static_at(process, asked))
            return from_name(*name, address);
        const auto pointed = paths_.pointed_at(process, asked);
        const NamedMemory& memory =
            names.at(address, model::MemoryTraffic::kNone, use.first_ns, use.last_ns, use.kind.width, use.instruction);
        SharedPlace place = pointed ? from_name(*pointed, address) : SharedPlace{};
        if (memory.kind == NamedMemory::Kind::allocation) {
            place.kind = SharedPlace::Kind::allocation;
            place.name = memory.name;
            place.start = memory.start;
            place.bytes = memory.bytes;
        }
        return place;
    }

    SharedUse use_of(size_t process, MemoryNames& names, const model::SharedLine& line, const model::LineUse& use) {
        SharedUse made;
        made.thread = use.thread;
        made.place = place_of(process, names, line, use);
        made.address = line.address + use.offset;
        made.width = use.kind.width;
        made.writes = use.kind.store;
        made.reads = use.kind.load;
        made.locked = use.kind.locked;
        made.exchanges = is_exchange(use.code);
        const std::vector<model::PathNode>& nodes = paths_.run().processes[process].paths;
        const uint32_t caller = use.path < nodes.size() ? nodes[use.path].parent : 0;
        made.frame = paths_.user_frame_at(process, use.instruction, caller);
        const model::Module* module = paths_.module_of(process, use.instruction);
        if (module && model::is_system_module(module->path)) {
            const std::string function = paths_.frames_at(process, use.instruction).back().function;
            made.called_code = function.substr(0, function.rfind("+0x"));
        }
        made.samples = use.samples;
        made.shared_ns = static_cast<double>(use.shared_ns);
        return made;
    }

    // A load is timed as an update where the same thread also writes there: what it waits for is the line that it wrote to.
    const model::LineTransfer::Access* form_of(const model::SharedLine& line, const model::LineUse& use) const {
        if (!transfer_)
            return nullptr;
        bool writes = use.kind.store;
        for (const model::LineUse& other : line.uses)
            writes |= other.thread == use.thread && other.kind.store && other.offset == use.offset;
        const model::LineTransfer::Access& form = use.kind.locked               ? transfer_->locked
                                                  : use.kind.load && writes     ? transfer_->update
                                                  : writes                      ? transfer_->store
                                                                                : transfer_->load;
        const bool timed = form.own_ns > 0 && form.contended_ns > 0;
        return timed ? &form : use.kind.load && writes && transfer_->load.own_ns > 0 ? &transfer_->load : nullptr;
    }

    void add(size_t process, MemoryNames& names, const model::SharedLine& line) {
        if (!is_wanted(line.same_handovers, line.other_handovers))
            return;
        std::vector<SharedUse> uses;
        const SharedUse* heaviest = nullptr;
        std::map<uint32_t, uint64_t> samples; // by thread
        uint64_t all = 0;
        for (const model::LineUse& use : line.uses) {
            samples[use.thread] += use.samples;
            all += use.samples;
            uses.push_back(use_of(process, names, line, use));
        }
        for (const SharedUse& use : uses)
            if (!heaviest || use.shared_ns > heaviest->shared_ns)
                heaviest = &use;
        if (!heaviest || all == 0)
            return;
        double together = 0; // probability that two samples in no order are of one thread
        for (const auto& [thread, count] : samples)
            together += static_cast<double>(count) / static_cast<double>(all) * static_cast<double>(count) /
                        static_cast<double>(all);

        Draft& draft = drafts_[key_of(process, *heaviest)];
        SharedObject& object = draft.object;
        object.process = process;
        object.line_bytes = line.bytes;
        object.lines++;
        object.handovers += sharing_ == Sharing::same_bytes ? line.same_handovers : line.other_handovers;
        draft.slices[line.slice_ns] |= sharing_ == Sharing::same_bytes ? line.same_slices : line.other_slices;
        draft.close_pairs += line.close_pairs;
        draft.close_handovers += line.close_handovers;
        draft.close_expected += static_cast<double>(line.close_pairs) * (1 - together);
        draft.all_pairs += line.pairs;
        draft.all_handovers += line.handovers;
        draft.all_expected += static_cast<double>(line.pairs) * (1 - together);
        for (size_t i = 0; i < uses.size(); ++i)
            add(draft, line, line.uses[i], uses[i]);
    }

    void add(Draft& draft, const model::SharedLine& line, const model::LineUse& use, SharedUse& made) {
        SharedObject& object = draft.object;
        object.polled_ns += static_cast<double>(use.polled_ns);
        const uint64_t used = use.polled_ns > 0 && use.time_ns > 0
                                  ? static_cast<uint64_t>(static_cast<double>(use.samples) *
                                                          (1 - static_cast<double>(use.polled_ns) /
                                                                   static_cast<double>(use.time_ns)))
                                  : use.samples;
        object.used_samples += used;
        object.written_samples += made.writes ? used : 0;
        if (belongs_to_others(draft.object.process, use))
            return;
        draft.both_ns += made.shared_ns;
        const bool told = use.same_handovers + use.other_handovers > 0;
        const double same = static_cast<double>(told ? use.same_handovers : line.same_handovers);
        const double other = static_cast<double>(told ? use.other_handovers : line.other_handovers);
        const double share = (sharing_ == Sharing::same_bytes ? same : other) / (same + other);
        made.blamed_ns = made.shared_ns * share;
        object.blamed_ns += made.blamed_ns;
        if (use.time_ns > 0)
            object.samples += static_cast<uint64_t>(static_cast<double>(use.samples) * made.blamed_ns /
                                                    static_cast<double>(use.time_ns));
        const model::LineTransfer::Access* form = form_of(line, use);
        const double cost_ns = form ? form->contended_ns < kLeastPenalty * form->own_ns
                                          ? 0
                                          : made.blamed_ns * (1 - form->own_ns / form->contended_ns)
                                    : made.blamed_ns;
        object.cost_ns += cost_ns;
        if (is_in_spin_loop(draft.object.process, use.instruction))
            object.waiting_cost_ns += cost_ns;
        draft.by_form[form] += made.blamed_ns;
        object.where.add(made.frame, made.blamed_ns);
        if (made.blamed_ns > draft.heaviest_ns || draft.heaviest_ns == 0) {
            draft.heaviest_ns = made.blamed_ns;
            object.place = made.place;
        }
        object.uses.push_back(std::move(made));
    }

    bool is_in_spin_loop(size_t process, uint64_t instruction) const {
        return std::ranges::any_of(paths_.run().processes[process].spin_loops, [&](const model::SpinLoop& loop) {
            return instruction >= loop.begin && instruction < loop.end;
        });
    }

    static std::string key_of(size_t process, const SharedUse& use) {
        const SharedPlace& place = use.place;
        if (place.kind == SharedPlace::Kind::unknown)
            return fmt::format("{}\n?{}\n{}\n{}\n{}", process, use.frame.module, use.frame.file, use.frame.line,
                               use.frame.line ? "" : use.frame.function);
        return fmt::format("{}\n{}\n{}", process, static_cast<int>(place.kind), place.name);
    }

    bool is_shared(const Draft& draft) const {
        const SharedObject& object = draft.object;
        int slices = 0;
        for (const auto& [length, bits] : draft.slices)
            slices = std::max(slices, std::popcount(bits));
        const bool close = draft.close_pairs >= kFewestClosePairs;
        const double expected = close ? draft.close_expected : draft.all_expected;
        const double seen = static_cast<double>(close ? draft.close_handovers : draft.all_handovers);
        return object.handovers >= kFewestHandovers && slices >= kFewestSlices && object.blamed_ns > 0 &&
               object.threads().size() >= 2 && seen >= kLeastInterleaving * expected &&
               static_cast<double>(object.written_samples) >= kLeastWritten * static_cast<double>(object.used_samples);
    }

    static SharedObject finished(Draft& draft) {
        SharedObject& object = draft.object;
        for (const auto& [length, bits] : draft.slices)
            if (const auto count = static_cast<unsigned>(std::popcount(bits)); count > object.slices) {
                object.slices = count;
                object.slice_s = static_cast<double>(length) * 1e-9;
            }
        const bool close = draft.close_pairs >= kFewestClosePairs;
        object.pairs = close ? draft.close_pairs : draft.all_pairs;
        object.handed_over = close ? draft.close_handovers : draft.all_handovers;
        object.expected = close ? draft.close_expected : draft.all_expected;
        const auto most = std::ranges::max_element(draft.by_form, {}, [](const auto& each) { return each.second; });
        object.timed = most != draft.by_form.end() && most->first != nullptr;
        if (object.timed) {
            object.own_access_ns = most->first->own_ns;
            object.contended_access_ns = most->first->contended_ns;
        }
        std::ranges::stable_sort(object.uses, std::greater<>(), &SharedUse::blamed_ns);
        return std::move(object);
    }

    model::CallPaths& paths_;
    AllocatorCode allocator_;
    const Sharing sharing_;
    const model::LineTransfer* transfer_ = nullptr; // of the process's host, null: nothing was timed
    std::map<std::string, Draft> drafts_;
};

} // namespace

bool SharedObject::is_lock() const {
    double exchanging_ns = 0;
    for (const SharedUse& use : uses)
        exchanging_ns += use.exchanges ? use.blamed_ns : 0;
    return exchanging_ns * 2 > blamed_ns;
}

std::vector<uint32_t> SharedObject::threads() const {
    std::set<uint32_t> found;
    for (const SharedUse& use : uses)
        if (use.samples > 0)
            found.insert(use.thread);
    return {found.begin(), found.end()};
}

std::vector<uint32_t> SharedObject::writers() const {
    std::set<uint32_t> found;
    for (const SharedUse& use : uses)
        if (use.writes)
            found.insert(use.thread);
    return {found.begin(), found.end()};
}

uint64_t SharedObject::spacing() const {
    std::map<uint32_t, uint64_t> lowest; // address, by thread
    for (const SharedUse& use : uses) {
        const auto [found, is_new] = lowest.try_emplace(use.thread, use.address);
        if (!is_new)
            found->second = std::min(found->second, use.address);
    }
    std::set<uint64_t> begins;
    for (const auto& [thread, address] : lowest)
        begins.insert(address);
    uint64_t spacing = 0;
    for (auto at = begins.begin(); at != begins.end() && std::next(at) != begins.end(); ++at)
        if (const uint64_t apart = *std::next(at) - *at; spacing == 0 || apart < spacing)
            spacing = apart;
    return spacing;
}

std::vector<SharedObject> shared_objects(model::CallPaths& paths, Sharing sharing) {
    return Gatherer(paths, sharing).gather();
}

} // namespace plumb
