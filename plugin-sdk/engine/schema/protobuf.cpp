// Protobuf messages into trees, by the schema's field numbers.  kubectl's typed commands (`kubectl create deployment …`) send them.
//
// The fields of a message are placed as in JSON; normalize() does the rest: order, zero values that JSON leaves out, canonical texts.
#include <cstring>

#include "engine/raw_json.hpp"
#include "schema/type.hpp"
#include "text/base64.hpp"
#include "text/go_time.hpp"

namespace backplane::schema {
namespace {

constexpr int kMaxDepth = 100;  // the limit of Go's protobuf packages
constexpr std::string_view kMagic{"k8s\0", 4};

enum WireType : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  unsigned wire = 0;
  std::uint64_t varint = 0;  // the value of kVarint and the fixed forms
  std::string_view bytes;    // the value of kBytes
};

Status malformed(std::string_view why) { return bad_request(std::string(why)); }
Status unexpected_end() { return malformed("unexpected EOF"); }

// Walks the fields of one message.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}
  bool done() const noexcept { return rest_.empty(); }

  Status next(Field& field) {
    std::uint64_t key = 0;
    if (!varint(key)) return unexpected_end();
    field.number = static_cast<std::uint32_t>(key >> 3);
    field.wire = static_cast<unsigned>(key & 7);
    if (field.number == 0) return malformed("proto: illegal tag 0 (wire type " + std::to_string(field.wire) + ")");
    switch (field.wire) {
      case kVarint:
        return varint(field.varint) ? Status() : unexpected_end();
      case kFixed64:
        return fixed(8, field.varint);
      case kFixed32:
        return fixed(4, field.varint);
      case kBytes: {
        std::uint64_t size = 0;
        if (!varint(size) || size > rest_.size()) return unexpected_end();
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return {};
      }
      default:
        return malformed("proto: illegal wireType " + std::to_string(field.wire));
    }
  }

  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  Status fixed(std::size_t size, std::uint64_t& value) {
    if (rest_.size() < size) return unexpected_end();
    value = 0;
    std::memcpy(&value, rest_.data(), size);
    rest_.remove_prefix(size);
    return {};
  }
  std::string_view rest_;
};

// The numbers and texts of a small message with fixed fields (Time, Quantity, IntOrString …).
struct Small {
  std::int64_t numbers[4] = {};
  std::string_view texts[4];
  bool empty = true;
};
Status read_small(std::string_view message, Small& out) {
  Reader reader(message);
  while (!reader.done()) {
    Field field;
    if (Status status = reader.next(field); !status.ok()) return status;
    if (field.number >= std::size(out.numbers)) continue;
    out.empty = false;
    out.numbers[field.number] = static_cast<std::int64_t>(field.varint);
    out.texts[field.number] = field.bytes;
  }
  return {};
}

// A message may have any number of nanoseconds: a second or more, or a negative number, is carried to the seconds as in time.Unix.
GoTime whole_seconds(std::int64_t seconds, std::int32_t nanos) noexcept {
  constexpr std::int32_t kSecond = 1'000'000'000;
  std::int64_t carry = nanos / kSecond;
  nanos %= kSecond;
  if (nanos < 0) {
    nanos += kSecond;
    --carry;
  }
  return {static_cast<std::int64_t>(static_cast<std::uint64_t>(seconds) + static_cast<std::uint64_t>(carry)), nanos};
}

class ProtobufDecoder {
 public:
  explicit ProtobufDecoder(json::storage_ptr storage) : storage_(std::move(storage)) {}

  Status message(const Body& body, std::string_view bytes, Object& into, int depth) {
    if (depth > kMaxDepth) return malformed("proto: message nested too deeply");
    Reader reader(bytes);
    while (!reader.done()) {
      Field field;
      if (Status status = reader.next(field); !status.ok()) return status;
      if (Status status = member(body, field, into, depth); !status.ok()) return status;
    }
    return {};
  }

  Status value(const Type& type, const Field& field, Value& out, int depth) {
    switch (type.form()) {
      case Form::kBool:
        out = field.varint != 0;
        return {};
      case Form::kInt32:
        out = static_cast<std::int64_t>(static_cast<std::int32_t>(field.varint));
        return {};
      case Form::kInt64:
        out = static_cast<std::int64_t>(field.varint);
        return {};
      case Form::kDouble: {
        double number = 0;
        std::memcpy(&number, &field.varint, sizeof number);
        out = number;
        return {};
      }
      case Form::kString:
        out.emplace_string().assign(field.bytes);
        return {};
      case Form::kBytes:
        out.emplace_string().assign(encode_base64(field.bytes));
        return {};
      case Form::kStruct: {
        Object inner(storage_);
        Status status = message(type.body(), field.bytes, inner, depth + 1);
        out = std::move(inner);
        return status;
      }
      case Form::kList:
        return wrapped_list(type, field.bytes, out, depth + 1);
      case Form::kShape:
        return shape(type.body(), field.bytes, out, depth + 1);
      case Form::kMap:
        return malformed("proto: a map cannot stand here");
      default:
        return wrapped(type.form(), field.bytes, out);
    }
  }

 private:
  Status member(const Body& body, const Field& field, Object& into, int depth) {
    for (const InlinedMessage& inlined : body.inlined) {
      if (inlined.proto == field.number) return message(inlined.type->body(), field.bytes, into, depth + 1);
    }
    for (const Property& property : body.properties) {
      if (property.proto != field.number) continue;
      Value& slot = into[property.name];
      const bool wrapped = property.emit == Emit::kNonNil;
      if (property.type->form() == Form::kList && !wrapped) return list_item(*property.type, field, slot, depth);
      if (property.type->form() == Form::kMap) return map_entry(*property.type, field, slot, depth);
      return value(*property.type, field, slot, depth);
    }
    return {};  // As upstream, unknown fields are skipped.
  }

  Status list_item(const Type& list, const Field& field, Value& slot, int depth) {
    if (!slot.is_array()) slot = Array(storage_);
    const Type* items = list.body().items;
    if (items == nullptr) return malformed("proto: a list without a type");
    const bool scalar = items->form() == Form::kBool || items->form() == Form::kInt32 || items->form() == Form::kInt64;
    if (scalar && field.wire == kBytes) return packed(*items, field.bytes, slot.get_array(), depth);
    return value(*items, field, slot.get_array().emplace_back(nullptr), depth);
  }

  Status packed(const Type& items, std::string_view bytes, Array& into, int depth) {
    Reader reader(bytes);
    while (!reader.done()) {
      Field field;
      if (!reader.varint(field.varint)) return unexpected_end();
      if (Status status = value(items, field, into.emplace_back(nullptr), depth); !status.ok()) return status;
    }
    return {};
  }

  // A list wrapped in a message as its field 1.
  Status wrapped_list(const Type& list, std::string_view bytes, Value& out, int depth) {
    out = Array(storage_);
    Reader reader(bytes);
    while (!reader.done()) {
      Field field;
      if (Status status = reader.next(field); !status.ok()) return status;
      if (field.number != 1) continue;
      if (Status status = list_item(list, field, out, depth); !status.ok()) return status;
    }
    return {};
  }

  // A message with a field for each JSON type of the value; unset if it has none.
  Status shape(const Body& body, std::string_view bytes, Value& out, int depth) {
    if (depth > kMaxDepth) return malformed("proto: message nested too deeply");
    Reader reader(bytes);
    while (!reader.done()) {
      Field field;
      if (Status status = reader.next(field); !status.ok()) return status;
      Status status;
      if (field.number == body.shape_object && body.object_shape != nullptr) {
        status = value(*body.object_shape, field, out, depth);
      } else if (field.number == body.shape_array && body.array_shape != nullptr) {
        status = list_item(*body.array_shape, field, out, depth);
      } else if (field.number == body.shape_boolean && body.boolean_shape && !out.is_object()) {
        out = field.varint != 0;
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  Status map_entry(const Type& map, const Field& field, Value& slot, int depth) {
    if (!slot.is_object()) slot = Object(storage_);
    const Type* items = map.body().items;
    if (items == nullptr) return malformed("proto: a map without a type");
    std::string_view key;
    Field item;
    Reader reader(field.bytes);
    while (!reader.done()) {
      Field part;
      if (Status status = reader.next(part); !status.ok()) return status;
      if (part.number == 1) key = part.bytes;
      if (part.number == 2) item = part;
    }
    return value(*items, item, slot.get_object()[key], depth);
  }

  Status wrapped(Form form, std::string_view bytes, Value& out) {
    Small small;
    if (Status status = read_small(bytes, small); !status.ok()) return status;
    switch (form) {
      case Form::kTime:
      case Form::kMicroTime:
        if (small.empty) return {};
        out.emplace_string().assign(
            print_go_time(whole_seconds(small.numbers[1], static_cast<std::int32_t>(small.numbers[2])), form == Form::kMicroTime));
        return {};
      case Form::kDuration:
        out.emplace_string().assign(print_go_duration(small.numbers[1]));
        return {};
      case Form::kQuantity:
        out.emplace_string().assign(small.texts[1]);
        return {};
      case Form::kIntOrString:
        if (small.numbers[1] == 0) {
          out = static_cast<std::int64_t>(static_cast<std::int32_t>(small.numbers[2]));
        } else {
          out.emplace_string().assign(small.texts[3]);
        }
        return {};
      case Form::kRawExtension:
        return raw_json(small.texts[1], out);
      default:  // fieldsV1, anyJson: JSON in field 1
        return embedded_json(small.texts[1], out);
    }
  }

  Status embedded_json(std::string_view text, Value& out) {
    if (text.empty()) return {};
    auto parsed = parse_json(text, storage_, nullptr);
    if (!parsed.ok()) return std::move(parsed.status());
    out = std::move(*parsed);
    return {};
  }

  // Raw JSON is stored as it was sent.
  Status raw_json(std::string_view text, Value& out) {
    if (Status status = embedded_json(text, out); !status.ok() || out.is_null()) return status;
    constexpr std::string_view kBlanks = " \n\t\r";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    out = make_raw(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin), storage_);
    return {};
  }

  json::storage_ptr storage_;
};

}  // namespace

Result<Value> Type::decode_protobuf(std::string_view message, json::storage_ptr storage) const {
  if (form_ != Form::kStruct || structural()) return bad_request("this kind has no protobuf form");
  Object out(storage);
  Status status = ProtobufDecoder(storage).message(body(), message, out, 0);
  if (!status.ok()) return status;
  return Value(std::move(out));
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

Result<Value> Schema::decode_protobuf(std::string_view, json::storage_ptr) const { return bad_request("this kind has no protobuf form"); }

Status Schema::encode_protobuf(std::string_view, std::string&) const { return internal_error("this kind has no protobuf form"); }

Result<ProtobufEnvelope> open_protobuf_envelope(std::string_view body) {
  if (body.empty()) return bad_request("empty data");
  if (!body.starts_with(schema::kMagic))
    return bad_request("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  ProtobufEnvelope out;
  schema::Reader reader(body.substr(schema::kMagic.size()));
  while (!reader.done()) {
    schema::Field field;
    if (Status status = reader.next(field); !status.ok()) return status;
    if (field.number == 2) out.raw = field.bytes;
    if (field.number != 1) continue;
    schema::Small type_meta;
    if (Status status = schema::read_small(field.bytes, type_meta); !status.ok()) return status;
    out.api_version = type_meta.texts[1];
    out.kind = type_meta.texts[2];
  }
  return out;
}

}  // namespace BACKPLANE_API
