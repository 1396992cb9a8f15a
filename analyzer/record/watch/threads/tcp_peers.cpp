#include "record/watch/threads/tcp_peers.h"

#include "record/watch/threads/socket_diagnosis.h"

#include <array>
#include <compare>
#include <cstring>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace plumb::record {

namespace {

struct TcpRequest {
    nlmsghdr header;
    inet_diag_req_v2 body;
};

struct End {
    std::array<uint32_t, 4> address{}; // IPv4 as IPv6 has it: a socket of either kind may be connected to one of the other
    uint16_t port = 0;                 // in network order
    auto operator<=>(const End&) const = default;
};
using Connection = std::pair<End, End>; // own, the other

End end_of(uint8_t family, const __be32* address, uint16_t port) {
    End end;
    end.port = port;
    if (family == AF_INET)
        end.address = {0, 0, htonl(0xffff), address[0]};
    else
        std::memcpy(end.address.data(), address, sizeof end.address);
    return end;
}

void take(const nlmsghdr& header, std::map<Connection, uint64_t>& inodes) {
    if (header.nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg)))
        return;
    const auto* message = static_cast<const inet_diag_msg*>(NLMSG_DATA(&header));
    if (message->idiag_inode == 0) // nobody's any more
        return;
    const End own = end_of(message->idiag_family, message->id.idiag_src, message->id.idiag_sport);
    const End other = end_of(message->idiag_family, message->id.idiag_dst, message->id.idiag_dport);
    inodes[{own, other}] = message->idiag_inode;
}

} // namespace

std::unordered_map<uint64_t, uint64_t> tcp_socket_peers() {
    std::map<Connection, uint64_t> inodes;
    for (const uint8_t family : {uint8_t{AF_INET}, uint8_t{AF_INET6}}) {
        TcpRequest request{};
        request.header = {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
        request.body.sdiag_family = family;
        request.body.sdiag_protocol = IPPROTO_TCP;
        request.body.idiag_states = 1u << TCP_ESTABLISHED;
        ask_about_sockets(std::as_bytes(std::span(&request, 1)), [&](const nlmsghdr& header) { take(header, inodes); });
    }
    std::unordered_map<uint64_t, uint64_t> peers;
    for (const auto& [connection, inode] : inodes)
        if (const auto other = inodes.find({connection.second, connection.first}); other != inodes.end())
            peers[inode] = other->second;
    return peers;
}

} // namespace plumb::record
