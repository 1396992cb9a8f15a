#include "record/watch/threads/unix_peers.h"

#include "record/watch/threads/socket_diagnosis.h"

#include <cstring>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>

namespace plumb::record {

namespace {

struct UnixRequest {
    nlmsghdr header;
    unix_diag_req body;
};

void take(const nlmsghdr& header, std::unordered_map<uint64_t, uint64_t>& peers) {
    if (header.nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg)))
        return;
    const auto* message = static_cast<const unix_diag_msg*>(NLMSG_DATA(&header));
    auto left = static_cast<int>(header.nlmsg_len - NLMSG_LENGTH(sizeof *message));
    const auto* attribute = reinterpret_cast<const rtattr*>(message + 1);
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= sizeof(uint32_t)) {
            uint32_t peer;
            std::memcpy(&peer, RTA_DATA(attribute), sizeof peer);
            peers[message->udiag_ino] = peer;
            peers[peer] = message->udiag_ino;
        }
}

} // namespace

std::unordered_map<uint64_t, uint64_t> unix_socket_peers() {
    std::unordered_map<uint64_t, uint64_t> peers;
    UnixRequest request{};
    request.header = {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0};
    request.body.sdiag_family = AF_UNIX;
    request.body.udiag_states = UINT32_MAX;
    request.body.udiag_show = UDIAG_SHOW_PEER;
    ask_about_sockets(std::as_bytes(std::span(&request, 1)), [&](const nlmsghdr& header) { take(header, peers); });
    return peers;
}

} // namespace plumb::record
