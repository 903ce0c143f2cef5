package inspect

import "context"

// Forecast returns what the kernel posterior q* would be if of the last evaluation
// only the kernels of these ids stayed, in their order, as Run.Prune would find it.
// Every id must be of a live kernel.
func (i *Inspector) Forecast(ctx context.Context, ids []string) (posterior []float64, err error) {
	err = i.ask(ctx, func(context.Context) error {
		posterior, err = i.trainer.Forecast(ids)
		return err
	})
	return posterior, err
}
