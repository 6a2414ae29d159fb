// One value on its way through a storage transformer, which is a plugin's: its exceptions become errors, and the caller resumes on
// the executor from which it called.
//
// Thread-safety: functions of their arguments.
// Errors:        the transformer's; kInternalError with the text of an exception.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage_transformer.hpp"

namespace backplane {

using TransformerRef = std::shared_ptr<const StorageTransformer>;

// The transformer for `resource`; null: there is none.  One that fails every call if find() throws.
TransformerRef find_transformer(const StorageTransformers& transformers, const GroupResource& resource);

// `transformer` may be null: the bytes stay as they are.  Without waiting; nothing if the value must wait.
std::optional<Result<StorageTransformer::Plain>> from_storage_now(const TransformerRef& transformer, std::string_view key,
                                                                  const SharedBytes& bytes);
// Without waiting if possible.
Task<Result<StorageTransformer::Plain>> from_storage(TransformerRef transformer, std::string key, SharedBytes bytes);
Task<Result<SharedBytes>> to_storage(TransformerRef transformer, std::string key, SharedBytes bytes);

}  // namespace backplane
