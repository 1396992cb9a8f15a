#include "feed.h"
#include "memory_file.h"
#include "target.h"

#include "symbols/address_names.h"

namespace plumb::fuzz {

namespace {

void ask(const symbols::AddressNames& names, Feed feed) {
    for (int question = 0; question < 8; ++question) {
        const auto address = feed.number<uint64_t>();
        for (const uint64_t each : {address, address & 0xffff, uint64_t{UINT64_MAX} - address})
            if (const auto found = names.at(each))
                require(found->second <= each);
    }
}

} // namespace

// The first byte chooses the kind of file.
void run_perf_map(Bytes input) {
    static MemoryFile file;
    Feed feed(input);
    const bool is_kernel = feed.number<uint8_t>() & 1;
    file.fill(feed.rest());
    ask(is_kernel ? symbols::AddressNames::from_kallsyms(file.path())
                  : symbols::AddressNames::from_perf_map(file.descriptor_at_start()),
        feed);
}

Seeds seeds_of_perf_map() {
    return {{"map", std::string("0") + "7f0010 20 interpreter\n7f0040 10 py::f:/tmp/a.py\n0x1000 0x20 jitted code\n"},
            {"overlaps", std::string("0") + "10 ffffffff a\n20 8 b\n18 30 c\n0 8 d\nffffffffffffff00 80 last"},
            {"kernel", std::string("1") + "ffffffff81000000 T _stext\nffffffff81000040 t step\tmodule\n0 A none\n10 W weak"}};
}

} // namespace plumb::fuzz
