#include "network/files/ib_port.h"

#include "support/trimmed.h"

#include <algorithm>
#include <charconv>

namespace plumb::network {

namespace {

// Behind "Key: "; nothing: another key.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':')
        return std::nullopt;
    return trimmed(line.substr(key.size() + 1));
}

// ibstat's Rate is that of the signals up to QDR, of which 8 of 10 bits are data, and of FDR, 64 of 66; from EDR on it is what is
// carried. Which of them it is follows from the number: that of one lane, times 1, 2, 4, 8 or 12 lanes.
double carried_gbit(double rate, bool is_fdr10) {
    const auto is_one_of = [&](std::initializer_list<double> rates) { return std::ranges::find(rates, rate) != rates.end(); };
    if (!is_fdr10 && is_one_of({2.5, 5, 10, 20, 30, 40, 60, 80, 120}))
        return rate * 8 / 10;
    return is_one_of({14, 28, 56, 112, 168}) ? rate * 64 / 66 : rate;
}

} // namespace

std::optional<IbPort> slowest_active_port(std::string_view text) {
    std::optional<IbPort> slowest;
    IbPort port;
    bool is_active = false, is_infiniband = true;
    const auto end_port = [&] {
        if (is_active && is_infiniband && port.bytes_per_s > 0 && (!slowest || port.bytes_per_s < slowest->bytes_per_s))
            slowest = port;
        port.bytes_per_s = 0;
        is_active = false;
        is_infiniband = true;
    };
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trimmed(text.substr(at, end - at));
        at = end + 1;
        if (line.starts_with("CA '")) {
            end_port();
            port.adapter = std::string(line.substr(4, line.find('\'', 4) - 4));
        } else if (line.starts_with("Port ") && line.ends_with(":")) {
            end_port();
            std::from_chars(line.data() + 5, line.data() + line.size() - 1, port.port);
        } else if (const auto state = value_of(line, "State")) {
            is_active = *state == "Active";
        } else if (const auto layer = value_of(line, "Link layer")) {
            is_infiniband = *layer == "InfiniBand";
        } else if (const auto rate = value_of(line, "Rate")) {
            double gbit = 0;
            std::from_chars(rate->data(), rate->data() + rate->size(), gbit);
            if (gbit > 0 && gbit < 1e6)
                port.bytes_per_s = carried_gbit(gbit, rate->find("FDR10") != std::string_view::npos) * 1e9 / 8;
        }
    }
    end_port();
    return slowest;
}

} // namespace plumb::network
