// Graphs of a document: their tasks as they stand there, and whether they fit together.
#pragma once

#include "base/result.h"
#include "pipelines/ir/fields.h"
#include "pipelines/ir/pipeline.h"

namespace pipelines {

base::Result<ParameterType> read_type(const Field& field);
base::Result<Graph> read_graph(const Field& dag);
// Every reference of the graph of `owner` leads somewhere, and types fit; its tasks are brought into their order.
base::Status check_graph(const Pipeline& pipeline, Component& owner, const std::string& path);

}  // namespace pipelines
