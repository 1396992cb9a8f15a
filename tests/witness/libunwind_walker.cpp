// libunwind's remote interface: an address space of our own, whose memory is the sample and the files.
#include "walker.h"

#include <libunwind-x86_64.h>

// Exported by libunwind-x86_64.so, declared in no header of 1.6.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t*, unw_proc_info_t*, int need,
                                                  void* argument);

namespace plumb::witness {

namespace {

struct Space {
    const ModuleFiles& files;
    const Sample* sample = nullptr;
    bool lacked_table = false; // since it was reset
};

Space& space_of(void* argument) { return *static_cast<Space*>(argument); }

int find_proc_info(unw_addr_space_t unwinder, unw_word_t ip, unw_proc_info_t* info, int need, void* argument) {
    Space& space = space_of(argument);
    const Module* const module = space.files.at(ip);
    int result = -UNW_ENOINFO;
    if (module && module->table) {
        unw_dyn_info_t table{};
        table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
        table.start_ip = module->begin;
        table.end_ip = module->end;
        table.u.rti.segbase = module->table;
        table.u.rti.table_data = module->table + 12;
        table.u.rti.table_len = module->rows * 8 / sizeof(unw_word_t);
        result = UNW_OBJ(dwarf_search_unwind_table)(unwinder, ip, &table, info, need, argument);
    }
    space.lacked_table |= result < 0;
    return result;
}

int access_memory(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
    const Space& space = space_of(argument);
    uint64_t found = 0;
    if (write || (!space.sample->word(address, found) && !space.files.word(address, found)))
        return -UNW_EINVAL;
    *value = found;
    return 0;
}

int access_register(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
    const Space& space = space_of(argument);
    if (write || number < 0 || static_cast<size_t>(number) >= kRegisters)
        return -UNW_EBADREG;
    *value = space.sample->registers[static_cast<size_t>(number)];
    return 0;
}

void put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}
int get_no_list(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }
int access_no_float(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EINVAL; }
int resume_not(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
int get_no_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

class LibunwindWalker final : public Walker {
  public:
    explicit LibunwindWalker(const ModuleFiles& files) : space_{files} {
        unw_accessors_t accessors{};
        accessors.find_proc_info = find_proc_info;
        accessors.put_unwind_info = put_unwind_info;
        accessors.get_dyn_info_list_addr = get_no_list;
        accessors.access_mem = access_memory;
        accessors.access_reg = access_register;
        accessors.access_fpreg = access_no_float;
        accessors.resume = resume_not;
        accessors.get_proc_name = get_no_name;
        unwinder_ = unw_create_addr_space(&accessors, 0);
        unw_set_caching_policy(unwinder_, UNW_CACHE_GLOBAL);
        unw_set_cache_size(unwinder_, 4096, 0);
    }
    ~LibunwindWalker() override { unw_destroy_addr_space(unwinder_); }
    LibunwindWalker(const LibunwindWalker&) = delete;
    LibunwindWalker& operator=(const LibunwindWalker&) = delete;

    void walk(const Sample& sample, Walk& walk) override {
        space_.sample = &sample;
        space_.lacked_table = false;
        walk.frames.assign(1, sample.pc());
        walk.complete = walk.gave_up = false;
        walk.first_guess = SIZE_MAX;
        unw_cursor_t cursor;
        int result = unw_init_remote(&cursor, unwinder_, &space_);
        unw_word_t ip = 0;
        while (result >= 0 && walk.frames.size() < kMostFrames && (result = unw_step(&cursor)) > 0) {
            note_guess(walk);
            if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || ip == 0)
                break;
            walk.frames.push_back(ip);
        }
        note_guess(walk);
        walk.gave_up = walk.first_guess == SIZE_MAX && result < 0;
        walk.complete = walk.first_guess == SIZE_MAX && (result == 0 || (result > 0 && ip == 0));
    }

  private:
    void note_guess(Walk& walk) const {
        if (space_.lacked_table && walk.first_guess == SIZE_MAX)
            walk.first_guess = walk.frames.size() - 1;
    }

    Space space_;
    unw_addr_space_t unwinder_;
};

} // namespace

std::unique_ptr<Walker> libunwind_walker(const ModuleFiles& files) { return std::make_unique<LibunwindWalker>(files); }

} // namespace plumb::witness
