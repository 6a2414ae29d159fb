// Targets between a client and the cluster: kubelets, proxied pages, WebSocket clients.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// A kubelet's bytes over SPDY, including the end of a command.
void kubelet_stream(std::string_view bytes);
// A proxied page, compressed and uncompressed.
void linked_page(std::string_view bytes);
// A client's bytes over a WebSocket.
void websocket_messages(std::string_view bytes);

// A kubelet whose command has written output and ended.
std::string kubelet_seed();

}  // namespace backplane::fuzz
