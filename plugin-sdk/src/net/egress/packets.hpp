// The protobuf messages between a client and konnectivity's proxy server (message Packet of konnectivity-client/proto/client/client.proto).
//
// Thread-safety: pure functions.
// Errors:        read_packet(): nullopt for bytes that are not a Packet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::egress {

enum class PacketType : unsigned char { kDialRequest, kDialResponse, kCloseRequest, kCloseResponse, kData, kDialClose, kDrain };

// The members of all payloads. Each type of payload uses some of them.
struct Packet {
  PacketType type = PacketType::kDialRequest;
  std::string error, data;
  std::int64_t connection = 0;
  std::int64_t random = 0;  // identifies a dial until it has a connection
};

std::string dial_request(std::string_view address, std::int64_t random);
std::string dial_close(std::int64_t random);
std::string close_request(std::int64_t connection);
std::string data_packet(std::int64_t connection, std::string_view data);
std::optional<Packet> read_packet(std::string_view bytes);

}  // namespace backplane::egress
