#include "record/perf/profile.h"

#include <algorithm>

namespace plumb::record {

namespace {

// Frames of these libraries begin threads and programs, so a chain that reaches one is whole.
bool begins_stacks(const MappedModule& module) {
    const size_t slash = module.path.rfind('/');
    const std::string_view name = std::string_view(module.path).substr(slash == std::string::npos ? 0 : slash + 1);
    return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-") ||
           name.starts_with("libpthread") || name.starts_with("ld.so");
}

constexpr size_t kMostFrames = 128;

class ProcessCode : public unwind::CodeMap {
  public:
    explicit ProcessCode(const Process& process) : process_(process) {}
    unwind::MappedCode code_at(uint64_t address) const override {
        auto after = process_.modules.upper_bound(address);
        if (after == process_.modules.begin())
            return {};
        const auto& [start, module] = *--after;
        if (address >= module.end)
            return {};
        return {&module.path, start, module.file_offset, (module.flags & trace::kModuleVdso) != 0};
    }

  private:
    const Process& process_;
};

bool has_stack(const PerfRecord& sample) {
    return sample.register_abi == PERF_SAMPLE_REGS_ABI_64 && sample.registers.size() == kUserRegisterCount &&
           !sample.stack.empty();
}

// The user's part of a chain, of which the kernel's own walk is there already. Not complete: callers above the last one are
// unknown.
void complete_user_chain(const PerfRecord& sample, const Process& process, unwind::StackUnwinder& unwinder,
                         unwind::UnwoundStack& chain, unwind::WalkedStack& latest) {
    if (has_stack(sample)) {
        const unwind::StackSample state{sample.registers[kUserIp], sample.registers[kUserSp], sample.registers[kUserBp],
                                        sample.stack, link_in(sample.registers.data())};
        unwinder.unwind(state, ProcessCode(process), kMostFrames, chain, latest);
        return;
    }
    std::vector<uint64_t>& user = chain.addresses;
    size_t valid = user.empty() ? 0 : 1; // the innermost is where it was, mapped or not
    while (valid < user.size() && process.module_at(user[valid] - 1))
        ++valid;
    const bool garbage = valid < user.size();
    user.resize(valid);
    chain.complete = false;
    if (garbage || valid == 0)
        return; // valid == 0: in the kernel, with the user's part unknown
    const MappedModule* const outermost = process.module_at(user.back() - 1);
    chain.complete = process.flags & trace::kSeenStatic ? valid > 1 : outermost && begins_stacks(*outermost);
}

} // namespace

unwind::WalkedStack& CallChain::latest_walk(const PerfRecord& sample, const Process& process) {
    Latest& latest = latest_[sample.tid % latest_.size()];
    if (latest.tid != sample.tid || latest.generation != process.generation ||
        latest.modules_version != process.modules_version) {
        latest.tid = sample.tid;
        latest.generation = process.generation;
        latest.modules_version = process.modules_version;
        latest.walk.clear();
    }
    return latest.walk;
}

std::vector<CallChain::Step>& CallChain::steps_of(const PerfRecord& sample, const Process& process,
                                                  unwind::StackUnwinder& unwinder) {
    std::vector<uint64_t>& user = user_.addresses;
    kernel_.clear();
    user.clear();
    std::vector<uint64_t>* part = &kernel_;
    for (const uint64_t address : sample.chain) {
        if (address >= PERF_CONTEXT_MAX)
            part = address == PERF_CONTEXT_USER ? &user : &kernel_;
        else
            part->push_back(address);
    }
    complete_user_chain(sample, process, unwinder, user_, latest_walk(sample, process));
    if (kernel_.empty() && user.empty()) // no chain was asked for, or the kernel could not walk
        (sample.in_kernel ? kernel_ : user).push_back(sample.address);

    steps_.clear();
    for (size_t i = user.size(); i-- > 0;)
        steps_.push_back({user[i], i == 0 && kernel_.empty() ? uint32_t{trace::kPathLeaf} : 0u});
    for (size_t i = kernel_.size(); i-- > 0;)
        steps_.push_back({kernel_[i], uint32_t{trace::kPathKernel} | (i == 0 ? uint32_t{trace::kPathLeaf} : 0u)});
    if (!user_.complete && !steps_.empty())
        steps_.front().flags |= trace::kPathTruncated;
    return steps_;
}

// Deep programs could fill their share of the file with ever new paths. The leaf matters most, so the outer frames are
// given up first: most of them when half of the share is used, all of them at nine tenths.
size_t Profile::depth_for(const Tree& tree) const {
    if (tree.bytes < most_bytes_each_ / 2)
        return SIZE_MAX;
    return tree.bytes < most_bytes_each_ / 10 * 9 ? 6 : 1;
}

uint32_t Profile::child_of(Tree& tree, uint32_t pid, uint32_t parent, uint64_t address, uint32_t flags,
                           bool& found_room) {
    const NodeKey key{parent, flags, address};
    const auto known = tree.nodes.find(key);
    if (known != tree.nodes.end())
        return known->second;
    trace::PathNode node{};
    node.id = nodes_ + 1;
    node.parent = parent;
    node.address = address;
    node.pid = pid;
    node.flags = flags;
    if (tree.bytes + sizeof node > most_bytes_each_ || !file_.append(trace::RecordType::PathNode, 0, node)) {
        found_room = false;
        return parent;
    }
    tree.bytes += sizeof node;
    tree.nodes.emplace(key, node.id);
    return ++nodes_;
}

Profile::Tree& Profile::tree_of(const Process& process) {
    Tree& tree = trees_[process.pid];
    if (tree.generation != process.generation) {
        const uint64_t bytes = tree.bytes; // the share is the process's, over all its images
        tree = Tree{};
        tree.generation = process.generation;
        tree.bytes = bytes;
    }
    return tree;
}

// The deepest known node where there is no room for all of it; 0: not even the outermost one.
uint32_t Profile::path_of(const PerfRecord& sample, Process& process, Tree& tree, bool& found_room) {
    processes_.write_modules(process);
    std::vector<CallChain::Step>& steps = chain_.steps_of(sample, process, unwinder_);
    if (const size_t depth = depth_for(tree); steps.size() > depth) {
        steps.erase(steps.begin(), steps.end() - static_cast<long>(depth));
        steps.front().flags |= trace::kPathTruncated;
    }
    cut_chains_ += !steps.empty() && (steps.front().flags & trace::kPathTruncated);
    LatestPath& latest = latest_[sample.tid % latest_.size()];
    size_t known = 0; // steps from the root that are those of the latest path
    if (latest.tid == sample.tid && latest.generation == process.generation)
        while (known < latest.nodes.size() && known < steps.size() && latest.steps[known] == steps[known])
            ++known;
    latest.tid = sample.tid;
    latest.generation = process.generation;
    latest.nodes.resize(known);
    uint32_t path = known == 0 ? 0 : latest.nodes.back();
    for (size_t i = known; i < steps.size(); ++i) {
        path = child_of(tree, sample.pid, path, steps[i].address, steps[i].flags, found_room);
        if (!found_room)
            break;
        latest.nodes.push_back(path);
    }
    latest.steps.swap(steps);
    return path;
}

trace::NodeId Profile::place(const PerfRecord& sample) {
    Process* process = processes_.find_or_read(sample.pid);
    bool found_room = true;
    return process ? path_of(sample, *process, tree_of(*process), found_room) : 0;
}

trace::NodeId Profile::take(const PerfRecord& sample, uint64_t weight_ns, bool alone) {
    ++samples_;
    Process* process = processes_.find_or_read(sample.pid);
    if (!process)
        return 0;
    Tree& tree = tree_of(*process);
    bool found_room = true;
    const uint32_t path = path_of(sample, *process, tree, found_room);
    if (path == 0)
        return 0;
    if (!found_room)
        file_.count_dropped();
    trace::SampleSite*& site = tree.sites[uint64_t{sample.tid} << 32 | path];
    if (!site) {
        trace::SampleSite begin{};
        begin.pid = sample.pid;
        begin.path = path;
        begin.first_ns = sample.time_ns;
        site = file_.append(trace::RecordType::SampleSite, sample.tid, begin);
        if (!site)
            return path;
        tree.bytes += sizeof begin;
    }
    update(site->samples, site->samples + 1);
    update(site->time_ns, site->time_ns + weight_ns);
    update(site->kernel, site->kernel + sample.in_kernel);
    update(site->last_ns, sample.time_ns);
    if (alone)
        update(site->alone_ns, site->alone_ns + weight_ns);
    return path;
}

void Profile::forget(uint32_t pid) { trees_.erase(pid); }

} // namespace plumb::record
