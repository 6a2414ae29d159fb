#include "net/egress/packets.hpp"

namespace backplane::egress {
namespace {

constexpr unsigned kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;  // protobuf's wire types
constexpr std::uint64_t kLastType = static_cast<std::uint64_t>(PacketType::kDrain);

void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(0x80 | (value & 0x7f)));
  out.push_back(static_cast<char>(value));
}

void put(std::string& out, unsigned field, std::uint64_t value) {
  put_number(out, field << 3 | kVarint);
  put_number(out, value);
}

void put(std::string& out, unsigned field, std::string_view bytes) {
  put_number(out, field << 3 | kBytes);
  put_number(out, bytes.size());
  out.append(bytes);
}

std::string packet(PacketType type, unsigned field, std::string_view payload) {
  std::string out;
  put(out, 1, static_cast<std::uint64_t>(type));
  put(out, field, payload);
  return out;
}

// One field of a message.
struct Field {
  unsigned number = 0;
  std::uint64_t value = 0;
  std::string_view bytes;
};

class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  bool broken() const noexcept { return broken_; }
  // Reads the next field. Returns false at the end, and for bytes that are not a field.
  bool next(Field& out) {
    if (rest_.empty() || broken_) return false;
    const std::uint64_t tag = number();
    out = {static_cast<unsigned>(tag >> 3), 0, {}};
    switch (tag & 7) {
      case kVarint:
        out.value = number();
        break;
      case kBytes:
        out.bytes = take(number());
        break;
      case kFixed64:
        take(8);
        break;
      case kFixed32:
        take(4);
        break;
      default:
        broken_ = true;
    }
    return !broken_;
  }

 private:
  std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return out;
    }
    broken_ = true;
    return 0;
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      broken_ = true;
      return {};
    }
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  std::string_view rest_;
  bool broken_ = false;
};

// The field numbers of a payload's members; 0: the payload does not have the member.
struct PayloadForm {
  unsigned error, connection, random, data;
};
constexpr PayloadForm form_of(unsigned payload) {
  switch (payload) {
    case 3:  // DialResponse
      return {1, 2, 3, 0};
    case 4:  // Data
      return {2, 1, 0, 3};
    case 5:  // CloseRequest
      return {0, 1, 0, 0};
    case 6:  // CloseResponse
      return {1, 2, 0, 0};
    case 7:  // CloseDial
      return {0, 0, 1, 0};
    default:
      return {0, 0, 0, 0};
  }
}

bool read_payload(unsigned payload, std::string_view bytes, Packet& out) {
  const PayloadForm form = form_of(payload);
  Fields fields(bytes);
  for (Field field; fields.next(field);) {
    if (field.number == form.error) out.error = field.bytes;
    if (field.number == form.connection) out.connection = static_cast<std::int64_t>(field.value);
    if (field.number == form.random) out.random = static_cast<std::int64_t>(field.value);
    if (field.number == form.data) out.data = field.bytes;
  }
  return !fields.broken();
}

}  // namespace

std::string dial_request(std::string_view address, std::int64_t random) {
  std::string payload;
  put(payload, 1, std::string_view("tcp"));
  put(payload, 2, address);
  put(payload, 3, static_cast<std::uint64_t>(random));
  return packet(PacketType::kDialRequest, 2, payload);
}

std::string dial_close(std::int64_t random) {
  std::string payload;
  put(payload, 1, static_cast<std::uint64_t>(random));
  return packet(PacketType::kDialClose, 7, payload);
}

std::string close_request(std::int64_t connection) {
  std::string payload;
  put(payload, 1, static_cast<std::uint64_t>(connection));
  return packet(PacketType::kCloseRequest, 5, payload);
}

std::string data_packet(std::int64_t connection, std::string_view data) {
  std::string payload;
  put(payload, 1, static_cast<std::uint64_t>(connection));
  put(payload, 3, data);
  return packet(PacketType::kData, 4, payload);
}

std::optional<Packet> read_packet(std::string_view bytes) {
  Packet out;
  Fields fields(bytes);
  for (Field field; fields.next(field);) {
    if (field.number == 1) {
      if (field.value > kLastType) return std::nullopt;
      out.type = static_cast<PacketType>(field.value);
    } else if (!read_payload(field.number, field.bytes, out)) {
      return std::nullopt;
    }
  }
  if (fields.broken()) return std::nullopt;
  return out;
}

}  // namespace backplane::egress
