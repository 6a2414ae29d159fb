#include "cel/result.hpp"

#include "backplane/types/base64.hpp"
#include "cel/library_values.hpp"
#include "cel/text.hpp"

namespace backplane::cel_detail {
namespace {

constexpr int kMostDepth = 200;

backplane::Value of(Arena& arena, const Val& value, int depth) {
  if (depth > kMostDepth) return nullptr;
  switch (value.kind) {
    case ValKind::kNull:
      return nullptr;
    case ValKind::kBool:
      return value.boolean;
    case ValKind::kInt:
      return value.integer;
    case ValKind::kUint:
      return value.natural;
    case ValKind::kDouble:
      return value.real;
    case ValKind::kBytes:
      return json::string(to_base64(value.view()));
    case ValKind::kList: {
      Array out;
      for (std::size_t i = 0; i < list_size(value); ++i) out.push_back(of(arena, list_at(arena, value, i), depth + 1));
      return out;
    }
    case ValKind::kMap: {
      Object out;
      map_each(arena, value, [&](const Val& key, const Val& item) {
        out[to_text_val(arena, key).view()] = of(arena, item, depth + 1);
        return true;
      });
      return out;
    }
    case ValKind::kOptional:
      return value.inner == nullptr ? backplane::Value() : of(arena, *value.inner, depth + 1);
    case ValKind::kRaw:
      return *value.raw;
    case ValKind::kOpaque:
      if (value.opaque->kind == OpaqueKind::kUrl) return json::string(url_text(as<UrlVal>(value)));
      break;
    default:
      break;
  }
  const Val text = to_text_val(arena, value);
  return json::string(text.view());
}

}  // namespace

backplane::Value result_of(Arena& arena, const Val& value) { return of(arena, value, 0); }

}  // namespace backplane::cel_detail
