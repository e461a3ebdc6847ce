"""The databases themselves: one package an engine, behind the border that `border` draws."""
