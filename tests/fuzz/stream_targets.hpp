// Targets that stand between a client and what runs in a cluster: kubelets, pages, clients of WebSocket.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// What a kubelet sends over SPDY, and how it says that a command has ended.
void kubelet_stream(std::string_view bytes);
// A page behind a proxy, packed and not.
void linked_page(std::string_view bytes);
// What a client sends over a WebSocket whose messages are read.
void websocket_messages(std::string_view bytes);

// A kubelet whose command has said something and ended.
std::string kubelet_seed();

}  // namespace backplane::fuzz
