package sample

// MaxLine is the longest line that is read.
const MaxLine = maxLine
