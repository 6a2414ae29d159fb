// Canonical JSON into protobuf messages, by the schema's field numbers: bytes to bytes, as upstream's generated marshallers write them.
#include <charconv>
#include <cstring>

#include "backplane/types/json_reading.hpp"
#include "schema/json_tape.hpp"
#include "schema/protobuf_plan.hpp"
#include "text/base64.hpp"
#include "text/go_time.hpp"

namespace backplane::schema {
namespace {

using Token = JsonTape::Token;

class ProtobufEncoder {
 public:
  explicit ProtobufEncoder(std::string& out) : out_(out) {}

  // False if the text is not JSON of the type.
  bool encode(const Body& body, std::string_view json) {
    if (json.size() >= UINT32_MAX || !tape_.build(json)) return false;
    message(body, tape_[0]);
    tape_.trim();
    return ok_;
  }

 private:
  // One byte is reserved for a message's length, which is nearly always enough; longer messages are moved.
  std::size_t open() {
    out_.push_back('\0');
    return out_.size();
  }
  void close(std::size_t begin) {
    const std::size_t size = out_.size() - begin;
    if (size < 0x80) {
      out_[begin - 1] = static_cast<char>(size);
      return;
    }
    char length[10];
    std::size_t count = 0;
    for (std::size_t rest = size; count == 0 || rest != 0; rest >>= 7) {
      length[count++] = static_cast<char>((rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0));
    }
    out_[begin - 1] = length[0];
    out_.insert(begin, length + 1, count - 1);
  }

  std::uint32_t index_of(const Token& token) const { return static_cast<std::uint32_t>(&token - &tape_[0]); }
  bool is_null(const Token& token) const noexcept { return token.kind == 'n'; }
  bool expect(bool fits) {
    ok_ = ok_ && fits;
    return fits;
  }

  void message(const Body& body, const Token& object) {
    if (!expect(object.kind == '{' && body.error.empty())) return;
    const std::size_t base = slots_.size();
    slots_.resize(base + body.properties.size());
    std::size_t next = 0;
    for (std::uint32_t at = index_of(object) + 1; at < object.next;) {
      const Token& value = tape_[at + 1];
      const int found = body.find(tape_.text(tape_[at]), next);
      if (found >= 0) {
        next = static_cast<std::size_t>(found) + 1;
        if (!is_null(value)) slots_[base + next - 1] = at + 1;
      }
      at = value.next;
    }
    fields(body.protobuf_plan(), base);
    slots_.resize(base);
  }

  void fields(const ProtobufPlan& plan, std::size_t base) {
    for (const ProtobufField& field : plan.fields) {
      if (field.inlined) {
        out_.append(field.tag);
        const std::size_t begin = open();
        fields(*field.inlined, base);
        close(begin);
        continue;
      }
      const std::uint32_t at = slots_[base + field.property];
      if (at == 0) {
        out_.append(field.unset);
      } else {
        set_field(field, tape_[at]);
      }
    }
  }

  void set_field(const ProtobufField& field, const Token& token) {
    switch (field.type->form()) {
      case Form::kList:
        if (field.wrapped) {
          out_.append(field.tag);
          value(*field.type, token);
        } else {
          items(*field.type, field.tag, token);
        }
        return;
      case Form::kMap:
        entries(*field.type, field.tag, token);
        return;
      default:
        out_.append(field.tag);
        value(*field.type, token);
    }
  }

  void items(const Type& list, std::string_view tag, const Token& array) {
    const Type* type = list.body().items;
    if (!expect(array.kind == '[' && type != nullptr)) return;
    for (std::uint32_t at = index_of(array) + 1; at < array.next; at = tape_[at].next) {
      out_.append(tag);
      value(*type, tape_[at]);
    }
  }

  void entries(const Type& map, std::string_view tag, const Token& object) {
    const Type* type = map.body().items;
    if (!expect(object.kind == '{' && type != nullptr)) return;
    const std::string value_tag = protobuf_tag(2, type->form());
    for (std::uint32_t at = index_of(object) + 1; at < object.next;) {
      const Token& item = tape_[at + 1];
      out_.append(tag);
      const std::size_t begin = open();
      out_.push_back('\x0a');
      text(tape_[at]);
      if (type->form() != Form::kBytes || !is_null(item)) {
        out_.append(value_tag);
        value(*type, item);
      }
      close(begin);
      at = item.next;
    }
  }

  // A value after its tag: with its length, if it has one.
  void value(const Type& type, const Token& token) {
    const Form form = type.form();
    if (is_null(token) && form != Form::kAnyJson) {
      out_.append(protobuf_zero(type));
      return;
    }
    switch (form) {
      case Form::kString:
        return text(token);
      case Form::kBool:
        out_.push_back(token.kind == 't' ? '\x01' : '\0');
        return void(expect(token.kind == 't' || token.kind == 'f'));
      case Form::kInt32:
      case Form::kInt64:
        return append_varint(out_, static_cast<std::uint64_t>(integer(token)));
      case Form::kDouble:
        return real(token);
      case Form::kBytes:
        return bytes(token);
      case Form::kList: {  // if a list cannot be unwrapped
        const std::size_t begin = open();
        items(type, protobuf_tag(1, type.body().items ? type.body().items->form() : Form::kString), token);
        return close(begin);
      }
      case Form::kMap:
        return void(expect(false));
      default: {
        const std::size_t begin = open();
        inside(type, token);
        return close(begin);
      }
    }
  }

  // A value that follows its length.
  void inside(const Type& type, const Token& token) {
    switch (type.form()) {
      case Form::kStruct:
        return message(type.body(), token);
      case Form::kTime:
      case Form::kMicroTime:
        return time(token, type.form() == Form::kMicroTime);
      case Form::kDuration:
        return duration(token);
      case Form::kQuantity:
        out_.push_back('\x0a');
        return text(token);
      case Form::kIntOrString:
        return int_or_string(token);
      case Form::kShape:
        return shape(type.body(), token);
      default:
        return raw(token);
    }
  }

  void text(const Token& token) {
    if (!expect(token.kind == '"')) return;
    if (!token.escaped) {
      append_varint(out_, token.end - token.begin);
      out_.append(tape_.text(token));
      return;
    }
    const std::size_t begin = open();
    append_json_unescaped(out_, tape_.text(token));
    close(begin);
  }

  std::int64_t integer(const Token& token) {
    const std::string_view word = tape_.text(token);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    expect(token.kind != '"' && error == std::errc() && end == word.data() + word.size());
    return number;
  }

  void real(const Token& token) {
    const std::string_view word = tape_.text(token);
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    expect(token.kind != '"' && error == std::errc() && end == word.data() + word.size());
    char bits[sizeof number];
    std::memcpy(bits, &number, sizeof number);
    out_.append(bits, sizeof bits);
  }

  void bytes(const Token& token) {
    if (!expect(token.kind == '"')) return;
    std::string decoded;
    expect(!token.escaped && !decode_go_base64(tape_.text(token), decoded));
    append_varint(out_, decoded.size());
    out_.append(decoded);
  }

  void time(const Token& token, bool micro) {
    if (!expect(token.kind == '"')) return;
    std::string error;
    const auto parsed = parse_go_time(tape_.text(token), micro, error);
    if (!expect(parsed.has_value())) return;
    out_.push_back('\x08');
    append_varint(out_, static_cast<std::uint64_t>(parsed->seconds));
    out_.push_back('\x10');
    append_varint(out_, micro ? static_cast<std::uint64_t>(parsed->nanos / 1000 * 1000) : 0);
  }

  void duration(const Token& token) {
    if (!expect(token.kind == '"')) return;
    std::string error;
    const auto parsed = parse_go_duration(tape_.text(token), error);
    expect(parsed.has_value());
    out_.push_back('\x08');
    append_varint(out_, static_cast<std::uint64_t>(parsed.value_or(0)));
  }

  void int_or_string(const Token& token) {
    const bool is_text = token.kind == '"';
    out_.append(is_text ? std::string_view("\x08\x01\x10\0\x1a", 5) : std::string_view("\x08\0\x10", 3));
    if (is_text) return text(token);
    append_varint(out_, static_cast<std::uint64_t>(integer(token)));
    out_.append(std::string_view("\x1a\0", 2));
  }

  void shape(const Body& body, const Token& token) {
    if (body.boolean_shape) {
      out_.append(protobuf_tag(body.shape_boolean, Form::kBool));
      out_.push_back(token.kind == 'f' ? '\0' : '\x01');
    }
    if (token.kind == '{' && body.object_shape != nullptr) {
      out_.append(protobuf_tag(body.shape_object, Form::kStruct));
      value(*body.object_shape, token);
    } else if (token.kind == '[' && body.array_shape != nullptr && body.array_shape->body().items != nullptr) {
      items(*body.array_shape, protobuf_tag(body.shape_array, body.array_shape->body().items->form()), token);
    }
  }

  void raw(const Token& token) {
    if (is_null(token)) return;
    const bool quoted = token.kind == '"';
    const std::uint32_t edge = quoted ? 1 : 0;
    out_.push_back('\x0a');
    append_varint(out_, token.end - token.begin + 2 * edge);
    if (quoted) out_.push_back('"');
    out_.append(tape_.text(token));
    if (quoted) out_.push_back('"');
  }

  std::string& out_;
  bool ok_ = true;
  static thread_local JsonTape tape_;
  static thread_local std::vector<std::uint32_t> slots_;
};

thread_local JsonTape ProtobufEncoder::tape_;
thread_local std::vector<std::uint32_t> ProtobufEncoder::slots_;

}  // namespace

bool Type::has_protobuf() const noexcept {
  if (form_ != Form::kStruct || structural()) return false;
  const Body& own = body();
  return own.error.empty() && (!own.protobuf_plan().fields.empty());
}

Status Type::encode_protobuf(std::string_view json, std::string& out) const {
  if (!has_protobuf()) return internal_error(std::string(name_) + " has no protobuf form");
  const std::size_t begin = out.size();
  if (ProtobufEncoder(out).encode(body(), json)) return {};
  out.resize(begin);
  return internal_error("the object's bytes are not valid JSON of " + std::string(name_));
}

}  // namespace backplane::schema
