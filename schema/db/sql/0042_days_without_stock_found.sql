-- Which SKUs may have had days without stock: those whose stock came to nothing or from nothing, and those without any.
CREATE INDEX stock_movements_empty ON stock_movements (at, sku_id) WHERE current_stock = 0 OR current_stock = qty;
CREATE INDEX skus_empty ON skus (id) WHERE current_stock = 0;
