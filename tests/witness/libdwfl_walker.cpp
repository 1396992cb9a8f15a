// elfutils' libdwfl: modules reported from the mapped files, and a process that is callbacks only.
#include "walker.h"

#include <cstdlib>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace plumb::witness {

namespace {

constexpr pid_t kThread = 1; // any number

struct Process {
    const ModuleFiles& files;
    const Sample* sample = nullptr;
    Walk* walk = nullptr;
};

pid_t next_thread(Dwfl*, void* argument, void** thread) {
    if (*thread)
        return 0;
    *thread = argument;
    return kThread;
}

bool get_thread(Dwfl*, pid_t, void* argument, void** thread) {
    *thread = argument;
    return true;
}

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* value, void* argument) {
    const Process& process = *static_cast<Process*>(argument);
    uint64_t found = 0;
    if (!process.sample->word(address, found) && !process.files.word(address, found))
        return false;
    *value = found;
    return true;
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
    const Process& process = *static_cast<Process*>(argument);
    return dwfl_thread_state_registers(thread, 0, kRegisters, process.sample->registers.data());
}

int take_frame(Dwfl_Frame* frame, void* argument) {
    Walk& walk = *static_cast<Process*>(argument)->walk;
    Dwarf_Addr pc = 0;
    if (!dwfl_frame_pc(frame, &pc, nullptr))
        return DWARF_CB_ABORT;
    walk.frames.push_back(pc);
    return walk.frames.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// Of an executable that is not relocatable libdwfl knows the one place that the linker gave it; node maps parts of itself to others.
bool is_elsewhere(const Module& module) {
    return reinterpret_cast<const Elf64_Ehdr*>(module.data)->e_type == ET_EXEC && module.bias != 0;
}

int open_module(const Module& module) {
    if (is_elsewhere(module))
        return -1;
    if (module.path != "[vdso]")
        return open(module.path.c_str(), O_RDONLY | O_CLOEXEC);
    const int file = memfd_create("vdso", MFD_CLOEXEC);
    if (file >= 0 && write(file, module.data, module.size) != static_cast<ssize_t>(module.size)) {
        close(file);
        return -1;
    }
    return file;
}

bool names_another_register(const Dwarf_Op& operation) {
    const bool is_register = operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31;
    const size_t number = operation.atom == DW_OP_bregx || operation.atom == DW_OP_regx ? operation.number
                          : is_register ? size_t{operation.atom} - DW_OP_breg0 : kSpRegister;
    return number != kSpRegister && number != kBpRegister && number != kPcRegister;
}

int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) { return -1; }

class DwflWalker final : public LibdwflWalker {
  public:
    explicit DwflWalker(const ModuleFiles& files) : process_{files} {
        static const Dwfl_Callbacks callbacks{dwfl_build_id_find_elf, find_no_debuginfo, dwfl_offline_section_address, nullptr};
        dwfl_ = dwfl_begin(&callbacks);
        dwfl_report_begin(dwfl_);
        Elf* any = nullptr;
        for (const Module& module : files.modules()) {
            const int file = open_module(module);
            // The descriptor becomes the library's.
            Dwfl_Module* const reported =
                file < 0 ? nullptr : dwfl_report_elf(dwfl_, module.path.c_str(), module.path.c_str(), file, module.bias, true);
            GElf_Addr bias;
            if (reported && !any)
                any = dwfl_module_getelf(reported, &bias);
            if (file >= 0 && !reported)
                close(file);
        }
        dwfl_report_end(dwfl_, nullptr, nullptr);
        static const Dwfl_Thread_Callbacks threads{next_thread, get_thread, read_memory, set_registers, nullptr, nullptr};
        is_attached_ = any && dwfl_attach_state(dwfl_, any, kThread, &threads, &process_);
    }
    ~DwflWalker() override { dwfl_end(dwfl_); }
    DwflWalker(const DwflWalker&) = delete;
    DwflWalker& operator=(const DwflWalker&) = delete;

    void walk(const Sample& sample, Walk& walk) override {
        process_.sample = &sample;
        process_.walk = &walk;
        walk.frames.clear();
        walk.complete = is_attached_ && dwfl_getthread_frames(dwfl_, kThread, take_frame, &process_) == 0;
        if (walk.frames.empty())
            walk.frames.push_back(sample.pc());
    }

    CallerBy caller_by(uint64_t pc) override {
        const auto [known, is_new] = callers_.try_emplace(pc, CallerBy::nothing);
        if (is_new)
            known->second = find_caller_by(pc);
        return known->second;
    }

  private:
    CallerBy find_caller_by(uint64_t pc) {
        Dwfl_Module* const module = dwfl_addrmodule(dwfl_, pc);
        if (!module)
            return CallerBy::nothing;
        Dwarf_Frame* frame = nullptr;
        for (const auto read : {&dwfl_module_eh_cfi, &dwfl_module_dwarf_cfi}) {
            Dwarf_Addr bias = 0;
            Dwarf_CFI* const information = read(module, &bias);
            if (information && dwarf_cfi_addrframe(information, pc - bias, &frame) == 0)
                break;
        }
        if (!frame)
            return CallerBy::nothing;
        Dwarf_Op* operations = nullptr;
        size_t count = 0;
        CallerBy result = CallerBy::stack_or_frame_pointer;
        const auto look = [&] {
            for (size_t i = 0; i < count; ++i)
                if (names_another_register(operations[i]))
                    result = CallerBy::another_register;
        };
        if (dwarf_frame_cfa(frame, &operations, &count) == 0)
            look();
        Dwarf_Op room[3];
        if (dwarf_frame_register(frame, kPcRegister, room, &operations, &count) == 0 && operations)
            look(); // vfork keeps its return address in rdi
        std::free(frame);
        return result;
    }

    Process process_;
    std::unordered_map<uint64_t, CallerBy> callers_; // remembered by pc
    Dwfl* dwfl_ = nullptr;
    bool is_attached_ = false;
};

} // namespace

std::unique_ptr<LibdwflWalker> libdwfl_walker(const ModuleFiles& files) { return std::make_unique<DwflWalker>(files); }

} // namespace plumb::witness
