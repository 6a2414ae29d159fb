// Targets of streams between a client and a backend: kubelets, proxied HTML pages, WebSocket clients.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// The bytes are sent by a kubelet over SPDY; they include the status of a command.
void kubelet_stream(std::string_view bytes);
// The bytes are a proxied HTML page, compressed or not.
void linked_page(std::string_view bytes);
// The bytes are sent by a client over a WebSocket.
void websocket_messages(std::string_view bytes);

// A seed: the bytes of a kubelet whose command has written output and has ended.
std::string kubelet_seed();

}  // namespace backplane::fuzz
