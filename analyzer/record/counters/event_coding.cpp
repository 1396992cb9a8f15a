#include "record/counters/event_coding.h"

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib.h> // types and constants alone
#include <string_view>

namespace plumb::record {

namespace {

// libpfm's pfm_perf_encode_arg_t. Its own header has a perf_event_attr, too, and cannot stand beside the kernel's.
struct EncodingArgument {
    perf_event_attr* attributes;
    char** full_name;
    size_t size;
    int index, cpu, flags, padding;
};

// Behind dlopen: PAPI brings it along, and a machine without it works as well.
class Pfm {
  public:
    Pfm() {
        void* const library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return;
        const auto initialize = reinterpret_cast<decltype(&::pfm_initialize)>(dlsym(library, "pfm_initialize"));
        encode_ = reinterpret_cast<decltype(&::pfm_get_os_event_encoding)>(dlsym(library, "pfm_get_os_event_encoding"));
        version_ = reinterpret_cast<decltype(&::pfm_get_version)>(dlsym(library, "pfm_get_version"));
        if (!initialize || !version_ || initialize() != PFM_SUCCESS)
            encode_ = nullptr;
    }

    std::optional<EventCoding> find(const char* name) const {
        if (!encode_)
            return std::nullopt;
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        EncodingArgument argument{};
        argument.attributes = &attributes;
        argument.size = sizeof argument;
        if (encode_(name, PFM_PLM3, PFM_OS_PERF_EVENT, &argument) != PFM_SUCCESS)
            return std::nullopt;
        return EventCoding{attributes.type, attributes.config, attributes.config1, attributes.config2};
    }

    int version() const { return encode_ ? version_() : 0; }

  private:
    decltype(&::pfm_get_os_event_encoding) encode_ = nullptr;
    decltype(&::pfm_get_version) version_ = nullptr;
};

const Pfm& pfm() {
    static const Pfm library;
    return library;
}

} // namespace

std::optional<EventCoding> coding_of(const CounterEvent& event) {
    if (event.perf_type != kNoPerf)
        return EventCoding{event.perf_type, event.perf_config};
    for (const char* name : event.named) {
        if (!name || !*name)
            break;
        if (std::string_view(name).starts_with("PAPI_")) // PAPI's own, which libpfm knows nothing of
            continue;
        if (const auto coding = pfm().find(name))
            return coding;
    }
    return std::nullopt;
}

std::string coding_identity() { return "libpfm " + std::to_string(pfm().version()); }

} // namespace plumb::record
