#include "model/topology.h"

#include <charconv>
#include <string_view>

namespace plumb::model {

std::optional<uint64_t> Topology::core_cache_bytes() const {
    constexpr std::string_view kSize = "cache_size=\"";
    const size_t cache = xml.find("type=\"L2Cache\"");
    if (cache == std::string::npos)
        return std::nullopt;
    const std::string_view object = std::string_view(xml).substr(cache, xml.find('>', cache) - cache);
    const size_t size = object.find(kSize);
    if (size == std::string_view::npos)
        return std::nullopt;
    uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(object.data() + size + kSize.size(), object.data() + object.size(), bytes);
    return error == std::errc() && bytes > 0 ? std::optional(bytes) : std::nullopt;
}

} // namespace plumb::model
