#include "target.h"

#include "platform/machine_cache.h"

namespace plumb::fuzz {

namespace {

constexpr const char* kMachine = "boot 1";

} // namespace

// The first byte says whether the rest is a whole file or what a file holds: the checksum would hide the latter.
void run_machine_cache(Bytes input) {
    if (input.empty())
        return;
    const std::string rest(as_text(input.subspan(1)));
    const auto values = input[0] & 1 ? platform::MachineCache::parse(rest, kMachine)
                                     : platform::MachineCache::parse(platform::MachineCache::unpack(rest), kMachine);
    size_t bytes = 0;
    for (const auto& [name, value] : values)
        bytes += name.size() + value.size();
    require(bytes <= platform::MachineCache::kMostBytes);
}

Seeds seeds_of_machine_cache() {
    const std::string plain = platform::MachineCache::format({{"cost", "42"}, {"topology", std::string(300, 'x')}}, kMachine);
    return {{"plain", "1" + plain}, {"file", "0" + platform::MachineCache::pack(plain)}};
}

} // namespace plumb::fuzz
