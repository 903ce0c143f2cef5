package scoring

// Levels are the probabilities of the central intervals of which it is counted how many
// targets they hold.
var Levels = [...]float64{0.5, 0.8, 0.95}
