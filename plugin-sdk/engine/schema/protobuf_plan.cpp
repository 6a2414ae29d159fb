#include "schema/protobuf_plan.hpp"

#include <algorithm>

#include "schema/constraints.hpp"

namespace backplane::schema {
namespace {

constexpr unsigned kVarint = 0, kFixed64 = 1, kBytes = 2;

unsigned wire_of(Form form) noexcept {
  switch (form) {
    case Form::kBool:
    case Form::kInt32:
    case Form::kInt64:
      return kVarint;
    case Form::kDouble:
      return kFixed64;
    default:
      return kBytes;
  }
}

std::string with_length(std::string bytes) {
  std::string out;
  append_varint(out, bytes.size());
  return out.append(bytes);
}

// `outer` is the body that is walked: an inlined type's members are among its properties.
ProtobufPlan make_plan(const Body& outer, const Body& own);

ProtobufField make_field(const Body& outer, const Property& property) {
  ProtobufField field;
  field.type = property.type;
  const int index = outer.find(property.name, 0);
  field.property = index < 0 ? outer.properties.size() : static_cast<std::size_t>(index);
  const Form form = property.type->form();
  const bool many = form == Form::kList || form == Form::kMap;
  field.wrapped = form == Form::kList && property.emit == Emit::kNonNil;
  const Form item = form == Form::kList && !field.wrapped && property.type->body().items ? property.type->body().items->form() : form;
  field.tag = protobuf_tag(property.proto, item);
  if (!many && property.emit == Emit::kAlways) field.unset = field.tag + protobuf_zero(*property.type);
  return field;
}

std::string unset_message(const ProtobufPlan& plan) {
  std::string out;
  for (const ProtobufField& field : plan.fields) out.append(field.unset);
  return out;
}

ProtobufPlan make_plan(const Body& outer, const Body& own) {
  std::vector<std::pair<std::uint32_t, ProtobufField>> numbered;
  for (const Property& property : own.properties) {
    if (property.proto != 0) numbered.emplace_back(property.proto, make_field(outer, property));
  }
  for (const InlinedMessage& inlined : own.inlined) {
    ProtobufField field;
    field.type = inlined.type;
    field.tag = protobuf_tag(inlined.proto, Form::kStruct);
    field.inlined = std::make_unique<const ProtobufPlan>(make_plan(outer, inlined.type->body()));
    field.unset = field.tag + with_length(unset_message(*field.inlined));
    numbered.emplace_back(inlined.proto, std::move(field));
  }
  std::sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ProtobufPlan plan;
  for (auto& [number, field] : numbered) plan.fields.push_back(std::move(field));
  return plan;
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::string protobuf_tag(std::uint32_t number, Form form) {
  std::string out;
  append_varint(out, std::uint64_t(number) << 3 | wire_of(form));
  return out;
}

std::string protobuf_zero(const Type& type) {
  switch (type.form()) {
    case Form::kBool:
    case Form::kInt32:
    case Form::kInt64:
      return std::string(1, '\0');
    case Form::kDouble:
      return std::string(8, '\0');
    case Form::kDuration:
      return with_length(std::string("\x08\0", 2));
    case Form::kQuantity:
      return with_length(
          "\x0a\x01"
          "0");
    case Form::kIntOrString:
      return with_length(std::string("\x08\0\x10\0\x1a\0", 6));
    case Form::kStruct:
      return with_length(unset_message(type.body().protobuf_plan()));
    case Form::kShape:
      return type.body().boolean_shape ? with_length(protobuf_tag(type.body().shape_boolean, Form::kBool).append(1, 0)) : std::string(1, 0);
    default:  // texts, bytes, times, raw JSON: nothing is encoded
      return std::string(1, '\0');
  }
}

std::unique_ptr<const ProtobufPlan> ProtobufPlan::make(const Body& body) {
  return std::make_unique<const ProtobufPlan>(make_plan(body, body));
}

const ProtobufPlan& Body::protobuf_plan() const {
  if (const ProtobufPlan* made = protobuf_plan_.load(std::memory_order_acquire)) return *made;
  std::unique_ptr<const ProtobufPlan> plan = ProtobufPlan::make(*this);
  const ProtobufPlan* expected = nullptr;
  if (!protobuf_plan_.compare_exchange_strong(expected, plan.get(), std::memory_order_acq_rel)) return *expected;
  return *plan.release();
}

Body::Body() = default;
Body::~Body() { delete protobuf_plan_.load(std::memory_order_acquire); }

}  // namespace backplane::schema
