// Package serve answers questions to a model file over HTTP, in JSON: what kestrel predict
// would, without a file. docs/format.md has its questions and answers.
package serve
