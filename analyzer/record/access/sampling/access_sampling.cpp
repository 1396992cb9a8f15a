#include "record/access/sampling/access_sampling.h"

#include "platform/process_memory.h"
#include "record/access/code/yield_call.h"

#include <algorithm>
#include <bit>

namespace plumb::record {

namespace {

constexpr size_t kMostEntries = 1 << 14;         // sampled addresses remembered for one process
constexpr size_t kMostPlans = 1 << 16;           // and for all files together
constexpr size_t kMostLoops = 1 << 12;           // sampled addresses whose loops are remembered
constexpr size_t kMostFunctionBytes = 16u << 20; // of decoded functions
constexpr uint64_t kLongestFunction = 64 << 10;  // decoded whole; of longer ones only the surroundings of a sample
constexpr uint64_t kBack = 512, kAhead = 2048;   // bytes around a sample where no beginning is known
constexpr uint64_t kMadeCodeAge_ns = 1'000'000'000;
constexpr uint64_t kHeadStart_ns = 4'000'000; // of CPU time for new code, however short the run
constexpr uint64_t kLoopPart = 2; // one part of so many for what bursts of samples ask: of few loops

bool crosses(uint64_t address, uint64_t width, uint64_t block) { return (address & (block - 1)) + width > block; }

} // namespace

AccessSampling::AccessSampling(NodeTraceWriter& file, ProcessTable& processes, unwind::StackUnwinder& images,
                               uint64_t most_bytes_each, double new_code_share)
    : file_(file), processes_(processes), images_(images), most_bytes_each_(most_bytes_each),
      new_code_{{new_code_share, kHeadStart_ns}, {}},
      new_loops_{{new_code_share / kLoopPart, kHeadStart_ns / kLoopPart}, {}} {
    const char* why = nullptr;
    if (!shim::load_decoder(&why))
        why_ = why ? why : "no instruction decoder is installed";
}

// Where no beginning of the code is known. `shift` is subtracted from addresses.
CodeRegion AccessSampling::window(const Process& process, uint64_t start, const MappedModule& module, uint64_t address,
                                  uint64_t shift) {
    const uint64_t begin = std::max(start, address > kBack ? address - kBack : 0);
    std::vector<uint8_t> code(address - begin + kAhead);
    code.resize(reader_.read(process, start, module, begin, code.data(), code.size()));
    return CodeRegion::around(begin - shift, std::move(code), address - shift);
}

AccessPlan AccessSampling::plan_of(const CodeRegion& code, uint64_t sampled) {
    AccessPlan plan = plan_access(code, sampled);
    plan.loop = LoopPath::follow(code, sampled, plan);
    return plan;
}

template <class Use>
auto AccessSampling::with_code_in_file(const Process& process, uint64_t start, const MappedModule& module,
                                       uint64_t address, uint32_t file, Use use) {
    const uint64_t shift = start - module.file_offset; // from an offset in the file to an address
    const uint64_t offset = address - shift;
    std::optional<unwind::FunctionRange> function;
    if (unwind::UnwindImage* image = images_.image_of({&module.path, start, module.file_offset, false}))
        if (const auto in_image = image->address_of(offset))
            if (const auto range = image->function_at(*in_image)) // as offsets in the file
                function = {range->start - *in_image + offset, range->end - *in_image + offset};
    if (!function || function->start < module.file_offset || function->end - function->start > kLongestFunction)
        return use(window(process, start, module, address, shift), offset);
    auto known = functions_.find({file, function->start});
    if (known == functions_.end()) {
        std::vector<uint8_t> code(function->end - function->start);
        code.resize(reader_.read(process, start, module, function->start + shift, code.data(), code.size()));
        if (function_bytes_ > kMostFunctionBytes) {
            functions_.clear();
            function_bytes_ = 0;
        }
        known = functions_.emplace(FilePlace{file, function->start},
                                   CodeRegion::from_boundary(function->start, std::move(code))).first;
        function_bytes_ += known->second.memory();
    }
    if (known->second.begins_instruction(offset)) {
        const size_t before = known->second.memory();
        auto result = use(known->second, offset);
        function_bytes_ += known->second.memory() - before; // of what was decoded
        return result;
    }
    return use(window(process, start, module, address, shift), offset); // data amid code: another beginning
}

AccessPlan AccessSampling::plan_in_file(const Process& process, uint64_t start, const MappedModule& module,
                                        uint64_t address, uint32_t file) {
    return with_code_in_file(process, start, module, address, file, plan_of);
}

std::shared_ptr<const LoopStreams> AccessSampling::loop_for(const Process& process, uint64_t start,
                                                            const MappedModule& module, uint64_t address) {
    const uint32_t file = reader_.file_number(process, module);
    if (file == 0)
        return LoopStreams::follow(window(process, start, module, address, 0), address);
    const FilePlace place{file, address - start + module.file_offset};
    if (const auto known = loops_.find(place); known != loops_.end())
        return known->second;
    if (loops_.size() >= kMostLoops)
        loops_.clear();
    return loops_[place] = with_code_in_file(process, start, module, address, file, LoopStreams::follow);
}

AccessPlan AccessSampling::plan_for(const Process& process, uint64_t start, const MappedModule& module,
                                    uint64_t address) {
    const uint32_t file = reader_.file_number(process, module);
    if (file == 0)
        return plan_of(window(process, start, module, address, 0), address);
    const FilePlace place{file, address - start + module.file_offset};
    const auto known = plans_.find(place);
    if (known != plans_.end())
        return known->second;
    if (plans_.size() >= kMostPlans)
        plans_.clear();
    return plans_[place] = plan_in_file(process, start, module, address, file);
}

trace::AccessSite* AccessSampling::site_for(Code& code, uint32_t pid, uint64_t instruction, const AccessPlan& plan,
                                            uint64_t time_ns) {
    // An instruction with two operands (push of memory) may be met with either.
    const uint64_t key = instruction ^ uint64_t{plan.operand.width} << 52 ^ uint64_t{plan.operand.stack} << 63;
    const auto known = code.sites.find(key);
    if (known != code.sites.end())
        return known->second;
    trace::AccessSite site{};
    site.pid = pid;
    site.flags = plan.flags;
    site.address = instruction;
    site.width = plan.operand.width;
    site.first_ns = time_ns;
    trace::AccessSite* place = nullptr;
    if (code.bytes + sizeof site <= most_bytes_each_)
        place = file_.append(trace::RecordType::AccessSite, 0, site);
    else
        file_.count_dropped();
    if (!place)
        return nullptr; // asked again at the next address that leads here, which is rare
    code.bytes += sizeof site;
    return code.sites[key] = place;
}

AccessSampling::Code& AccessSampling::code_of(const Process& process) {
    Code& code = codes_[process.pid];
    if (code.generation != process.generation) {
        const uint64_t bytes = code.bytes; // the share is the process's, over all its images
        code = Code{};
        code.generation = process.generation;
        code.bytes = bytes;
    }
    return code;
}

// When over budget, only addresses already sampled are analysed: code seen once is skipped. What comes often is looked at
// also then, however slow the machine is. There is little of it, because every sample can be of one place alone.
bool AccessSampling::NewCode::must_wait(const PerfRecord& sample) {
    constexpr uint32_t kOften = 2;
    if (!share.is_short(sample.time_ns))
        return false;
    if (put_off.size() >= kMostEntries)
        put_off.clear();
    uint32_t& times = put_off[sample.address];
    if (times >= kOften || (times > 0 && share.has_room(sample.time_ns)))
        return false;
    ++times;
    return true;
}

std::optional<SampledLoop> AccessSampling::loop_at(const PerfRecord& sample) {
    if (!works() || sample.in_kernel || sample.register_abi != PERF_SAMPLE_REGS_ABI_64 ||
        sample.registers.size() != kDwarfNumbers.size())
        return std::nullopt;
    const Process* process = processes_.find_or_read(sample.pid);
    if (!process)
        return std::nullopt;
    Code& code = code_of(*process);
    auto known = code.loops.find(sample.address);
    if (known == code.loops.end() || sample.time_ns > known->second.valid_until_ns) {
        if (new_loops_.must_wait(sample))
            return std::nullopt;
        auto after = process->modules.upper_bound(sample.address);
        if (after == process->modules.begin() || sample.address >= std::prev(after)->second.end)
            return std::nullopt;
        const auto& [start, module] = *std::prev(after);
        LoopEntry entry;
        entry.streams = new_loops_.share.spend(
            [&, from = start, &in = module] { return loop_for(*process, from, in, sample.address); });
        if (module.flags & trace::kModuleAnonymous)
            entry.valid_until_ns = sample.time_ns + kMadeCodeAge_ns;
        if (code.loops.size() >= kMostLoops)
            code.loops.clear();
        known = code.loops.insert_or_assign(sample.address, std::move(entry)).first;
    }
    const LoopStreams* streams = known->second.streams.get();
    if (!streams)
        return std::nullopt;
    shim::Registers registers;
    for (size_t i = 0; i < kDwarfNumbers.size(); ++i)
        registers[kDwarfNumbers[i]] = sample.registers[i];
    return SampledLoop{streams->begin(sample.address), streams->end(sample.address), process->generation,
                       streams->at(sample.address, registers)};
}

std::shared_ptr<const LoopCode> AccessSampling::loop_code_at(const PerfRecord& sample) {
    const Process* process = works() ? processes_.find_or_read(sample.pid) : nullptr;
    if (!process)
        return nullptr;
    auto after = process->modules.upper_bound(sample.address);
    if (after == process->modules.begin() || sample.address >= std::prev(after)->second.end)
        return nullptr;
    const auto& [start, module] = *std::prev(after);
    const uint32_t file = module.flags & trace::kModuleAnonymous ? 0 : reader_.file_number(*process, module);
    if (file == 0)
        return nullptr;
    const FilePlace place{file, sample.address - start + module.file_offset};
    if (const auto known = loop_codes_.find(place); known != loop_codes_.end())
        return known->second;
    if (new_loops_.must_wait(sample))
        return nullptr;
    if (loop_codes_.size() >= kMostLoops)
        loop_codes_.clear();
    const auto read = [pid = process->pid](uint64_t address, uint8_t* to, size_t bytes) {
        const platform::MemoryPiece piece{address, to, bytes};
        return platform::read_process_memory(pid, {&piece, 1});
    };
    const bool has_registers =
        sample.register_abi == PERF_SAMPLE_REGS_ABI_64 && sample.registers.size() == kDwarfNumbers.size();
    shim::Registers registers{};
    for (size_t i = 0; has_registers && i < kDwarfNumbers.size(); ++i)
        registers[kDwarfNumbers[i]] = sample.registers[i];
    const auto yields = [&, shift = start - module.file_offset](uint64_t call) {
        return call_only_yields(read, call + shift, has_registers ? &registers : nullptr);
    };
    return loop_codes_[place] = new_loops_.share.spend([&, from = start, &in = module] {
        return with_code_in_file(*process, from, in, sample.address, file, [&](const CodeRegion& code, uint64_t sampled) {
            LoopCode around{ReplayableLoop::follow(code, sampled), counters_around(code, sampled),
                            wait_loop_around(code, sampled, yields)};
            if (around.waiting)
                around.waiting = around.waiting->moved_by(uint64_t{0} - sampled);
            return std::make_shared<const LoopCode>(std::move(around));
        });
    });
}

bool AccessSampling::is_behind_yield(const PerfRecord& sample) {
    if (!works() || sample.register_abi != PERF_SAMPLE_REGS_ABI_64 || sample.registers.size() != kDwarfNumbers.size())
        return false;
    const Process* process = processes_.find(sample.pid);
    if (!process)
        return false;
    const uint64_t address = sample.registers[kUserIp];
    auto after = process->modules.upper_bound(address);
    if (after == process->modules.begin() || address >= std::prev(after)->second.end)
        return false;
    const auto& [start, module] = *std::prev(after);
    const uint32_t file = module.flags & trace::kModuleAnonymous ? 0 : reader_.file_number(*process, module);
    if (file == 0 || address < start + kYieldBytes)
        return false;
    if (behind_yield_.size() >= kMostPlans)
        behind_yield_.clear();
    const auto [known, is_new] = behind_yield_.try_emplace({file, address - start + module.file_offset});
    if (is_new) {
        std::array<uint8_t, kYieldBytes> code{};
        const size_t got = reader_.read(*process, start, module, address - kYieldBytes, code.data(), code.size());
        known->second = ends_with_yield(code.data(), got);
    }
    return known->second;
}

std::optional<SampledAccess> AccessSampling::take(const PerfRecord& sample, uint64_t weight_ns) {
    if (!works() || sample.in_kernel)
        return std::nullopt;
    if (sample.register_abi != PERF_SAMPLE_REGS_ABI_64 || sample.registers.size() != kDwarfNumbers.size()) {
        ++without_registers_; // of a 32-bit program
        return std::nullopt;
    }
    ++user_samples_;
    Process* process = processes_.find_or_read(sample.pid);
    if (!process)
        return std::nullopt;
    Code& code = code_of(*process);
    auto known = code.entries.find(sample.address);
    if (known == code.entries.end() || sample.time_ns > known->second.valid_until_ns) {
        if (new_code_.must_wait(sample)) {
            ++put_off_;
            return std::nullopt;
        }
        auto after = process->modules.upper_bound(sample.address);
        if (after == process->modules.begin() || sample.address >= std::prev(after)->second.end)
            return std::nullopt;
        const auto& [start, module] = *std::prev(after);
        Entry entry;
        entry.plan =
            new_code_.share.spend([&, from = start, &in = module] { return plan_for(*process, from, in, sample.address); });
        if (entry.plan.kind != AccessPlan::Kind::none)
            entry.site = site_for(code, sample.pid, entry.plan.instruction(sample.address), entry.plan,
                                  sample.time_ns);
        if (module.flags & trace::kModuleAnonymous)
            entry.valid_until_ns = sample.time_ns + kMadeCodeAge_ns;
        if (code.entries.size() >= kMostEntries)
            code.entries.clear();
        known = code.entries.insert_or_assign(sample.address, entry).first;
    }
    const auto& [plan, site, valid_until_ns] = known->second;
    if (plan.kind == AccessPlan::Kind::none)
        return std::nullopt;
    ++with_address_;
    shim::Registers registers;
    for (size_t i = 0; i < kDwarfNumbers.size(); ++i)
        registers[kDwarfNumbers[i]] = sample.registers[i];
    SampledAccess access{sample.pid,     sample.tid, sample.cpu, sample.time_ns, weight_ns,
                         sample.address, plan.instruction(sample.address), plan.address(sample.address, registers),
                         plan.operand.width, plan.flags, process->generation, {}};
    access.operand = plan.operand;
    const auto base_of = [&](const AccessPlan& of) {
        return of.operand.base == shim::kNoRegister ? 0 : registers[of.operand.base];
    };
    access.updates = plan.updates;
    access.polls = plan.polls;
    access.length = plan.length;
    access.code = plan.code;
    access.base_value = base_of(plan);
    if (plan.loop) {
        access.move = plan.loop->move(registers);
        access.in_loop = true;
        access.chases = plan.loop->chases();
    }
    if (plan.store) { // last: it changes the registers
        const AccessPlan& store = *plan.store;
        access.store = StoreAhead{store.address(sample.address, registers), 0, store.operand.width, store.flags,
                                  store.length, store.code};
        access.store->base_value = base_of(store);
    }
    const bool unaligned = (access.address & (std::bit_floor(access.width) - 1u)) != 0;
    const bool crosses_line = crosses(access.address, access.width, 64);
    line_crossings_ += crosses_line;
    if (site) {
        update(site->samples, site->samples + 1);
        update(site->time_ns, site->time_ns + weight_ns);
        update(site->unaligned, site->unaligned + unaligned);
        update(site->line_crossings, site->line_crossings + crosses_line);
        update(site->page_crossings, site->page_crossings + crosses(access.address, access.width, 4096));
        if (unaligned || site->unaligned == 0)
            update(site->last_address, access.address);
    }
    return access;
}

void AccessSampling::forget(uint32_t pid) { codes_.erase(pid); }

void AccessSampling::write_evidence(NodeTraceWriter& file) const {
    constexpr const char* kSource = "address-sampling";
    if (!works()) {
        file.evidence(kSource, trace::EvidenceState::missing, why_, "install libZydis 4.0 (Debian: libzydis4.0)");
        return;
    }
    if (user_samples_ == 0) { // of a run so short that nothing was sampled, nothing is to be said
        if (without_registers_ > 0)
            file.evidence(kSource, trace::EvidenceState::missing,
                          "no time sample carried the registers of a 64-bit program", "");
        return;
    }
    const bool few = with_address_ * 2 < user_samples_;
    const bool put_off = put_off_ * 4 > user_samples_;
    file.evidence(kSource, few ? trace::EvidenceState::limited : trace::EvidenceState::ok,
                  "a memory address was recovered from the registers of " + std::to_string(with_address_) + " of " +
                      std::to_string(user_samples_) +
                      " time samples in user mode" +
                      (few ? "; the others hit code without a nearby memory access, or an access whose address cannot be "
                             "recovered (it changes its own address register, gathers, or uses a thread's segment)"
                           : "") +
                      (put_off ? "; " + std::to_string(put_off_) +
                                     " hit code seen once or twice, which is not analysed, to keep recording cheap"
                               : ""),
                  "");
}

} // namespace plumb::record
